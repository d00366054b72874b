// Package preview moves the host names of preview names. A preview name belongs to the
// versions of one branch; its host name routes to the newest of them that has been
// ready. That version is read from the registry at each change and stored nowhere else,
// so a crash at any moment leaves nothing to repair: the next start publishes every name
// again, and the janitor archives the versions that were replaced.
//
// Package deploy holds the requests of a name while its new version becomes ready, and
// then publishes the name; package lifecycle publishes it when a version was destroyed.
package preview
