// Package clientlimit limits what clients of a server can hold: how long a call waits
// for a client ([Pace]), and how many connections there are ([Gate]). The gateway
// uses both directly; [Guard] applies them to a server of net/http.
//
// A server reports the begin and the end of each read and write, which costs two
// atomic additions, and a periodic sweep finds the calls that wait too long. So a
// limit needs no timer and no system call for each read or write.
package clientlimit
