package tui

import (
	"errors"
	"testing"
)

// TestBulk: the success of one version does not hide the failure of another.
func TestBulk(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.failOne, p.failWith = "shop/pr-8", errors.New("the disk of the server is full")
	p.press("<down><down><space><space>A")
	p.wantDone("archive shop/pr-8", "archive shop/staging")
	p.sees("archive: 1 of 2 done, 1 failed: shop/pr-8: the disk of the server is full")
	if !p.m.bad {
		t.Error("the failure has not the color of an error")
	}
	p.failWith = nil
	p.press("gjj<space><space>P")
	p.sees("unpin: 2 of 2 done")
	if p.m.bad || p.m.bulk != nil {
		t.Error("a success has the color of an error")
	}
}
