package workflow

import "time"

const adminTime = 30 * time.Second
