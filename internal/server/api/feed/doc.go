// Package feed reads the events of the registry for clients, in order and without gaps,
// and adds the events of the daemon's processes to them.
//
// One goroutine reads each new event once and keeps the newest ones in memory, in a
// window of fixed size that all followers share. A follower has a position and no
// queue: one that falls behind the window reads from the registry, and one that falls
// behind what the registry keeps gets Gone, cursor_expired. So a slow client costs no
// memory.
//
// Positions are ids of the registry. They stay valid over a restart of the daemon.
// A [Service] is safe for concurrent use.
package feed
