SELECT {fn f(}
