SELECT U&'\00e9t\00e9', _UTF16'x', 'it''s', X'AB'
