// Package arming applies the cron rule: it arms the versions of a project that may run
// scheduled handlers, and disarms the others, after each change that may affect them. It also tells
// them whether their project is read-only.
//
// Packages deploy and promote report changes through the gateway's table; package
// supervisor passes the last state of a version to each host that it launches. The
// Service keeps no state: each report reads the registry again, so reports may come
// late, twice or in another order.
package arming
