// Package durableobject is the kind "durable_object": a namespace of Durable Objects of a
// class that the worker exports. workerd runs the objects and keeps their storage in files;
// package durable brings these into the data of the version. A binding is no more than a name
// in env, and the numbers of GET /bindings.
//
// workerd opens objects on its one thread. So that one request with many new objects does not
// take the version away from the others, calls of objects that are not open wait for turns
// (turns.js, lines.js, client.js).
package durableobject
