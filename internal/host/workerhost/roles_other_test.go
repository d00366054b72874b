//go:build !linux

package workerhost

import "github.com/svcctl/svcctl/internal/test/svctest"

func roles() map[string]svctest.Role { return nil }
