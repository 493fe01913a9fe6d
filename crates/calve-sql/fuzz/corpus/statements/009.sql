USE `default`
