/* block comment before */ SELECT /* inside */ 2 AS a
