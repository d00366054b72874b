// Package durableobject is the kind "durable_object": a namespace of Durable Objects of a
// class that the worker exports. workerd runs the objects and keeps their storage in files;
// package durable brings these into the data of the version. A binding is no more than a name
// in env, and the numbers of GET /bindings.
package durableobject
