// Package all lists the binding kinds this program ships.
package all
