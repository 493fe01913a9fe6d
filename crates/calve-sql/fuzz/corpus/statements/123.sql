ADD JAR '/x.jar'
