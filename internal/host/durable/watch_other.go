//go:build !linux

package durable

import (
	"context"
	"time"
)

// watch returns how often run has to look by itself.
func (k *Keeper) watch(context.Context) time.Duration { return lookEvery }

// drain takes note of every file that came or went.
func (k *Keeper) drain() { k.look(true) }
