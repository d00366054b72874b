//go:build failpoint

package config

import "time"

// leastGrace is short where tests wait for it.
const leastGrace = time.Second
