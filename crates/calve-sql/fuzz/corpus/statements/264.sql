SELECT nosuch_function(1)
