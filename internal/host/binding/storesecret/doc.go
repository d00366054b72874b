// Package storesecret is the binding kind "store_secret": a secret that the worker gets with
// get(). Its value is the variable of the version that has the secret's name, which is not
// in the worker's env.
package storesecret
