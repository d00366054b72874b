package svc

const (
	// DoctorHeader marks a request that the gateway answers by itself on every host, with
	// 404 and SeenHeader: by it, svcctl doctor learns what a proxy passes on.
	DoctorHeader = "Svc-Doctor"
	// SeenHeader says what the gateway saw of such a request, in this form:
	// "proto=https client=192.0.2.1 upgrade=websocket". The last part is there for the
	// handshake of a websocket only.
	SeenHeader = "Svc-Seen"
)
