SELECT (a - b) YEAR TO MONTH, (a - b) WEEK, (a - b) QUARTER FROM t
