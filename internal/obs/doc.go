// Package obs provides loggers and metrics [D31].
//
// Services declare an Observer interface with the methods that they call; package
// daemon passes them a *Metrics. Of this program the package imports svc and lib alone. All its
// types are safe for concurrent use.
package obs
