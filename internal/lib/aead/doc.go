// Package aead encrypts what is stored where others may read it.
package aead
