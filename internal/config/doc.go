// Package config reads settings: one table says each setting's environment
// variable, config file key, flag, default and meaning, and the same table
// prints the reference page. It is the only package that reads the process
// environment and the only one that knows viper.
//
// Loading is strict: an unknown variable or file key, a value that does not
// parse, and a setting without effect yet stop the start, all reported together
// [D46]. Precedence: flag, environment, file, default.
package config
