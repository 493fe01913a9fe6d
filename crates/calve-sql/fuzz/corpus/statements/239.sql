SELECT {fn UPPER('a')}
