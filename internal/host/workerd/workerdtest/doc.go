// Package workerdtest gives tests the real workerd.
package workerdtest
