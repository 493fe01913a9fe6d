REMOVE JAR '/x.jar'
