// Package models checks models of protocols with spin, which searches all their states. Its tests
// need the build tag models, spin and a C compiler (make models).
package models
