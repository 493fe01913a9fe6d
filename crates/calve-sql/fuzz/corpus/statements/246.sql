select 1 as Lower, SELECT_ from (values (2)) as v(SELECT_)
