package memstore_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
)

func TestBucket(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, &memstore.Bucket{})
}
