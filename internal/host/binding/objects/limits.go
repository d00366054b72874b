package objects

// The limits of object stores, which are R2's.
const (
	maxKey        = 1024          // bytes of UTF-8
	maxMetadata   = 8192          // bytes of names and values, see metadataSize
	maxBody       = 5<<30 - 5<<20 // bytes of an object, or of a part
	minPart       = 5 << 20       // bytes of every part but the last
	maxPartNumber = 10_000
	maxListed     = 1000
	maxDescribed  = 100 // objects of a page that shows metadata
	maxDeleted    = 1000
)

// inlineBody is the size up to which a body is in the row, in bytes.
const inlineBody = 64 << 10

// checkKey refuses a name that is empty or too long.
func checkKey(key string) error {
	if key == "" {
		return errName
	}
	return checkLength(key)
}

func checkLength(key string) error {
	if len(key) > maxKey {
		return errName
	}
	return nil
}

// checkMetadata counts what the fields take.
func checkMetadata(fields []customField) error {
	size := 0
	for _, f := range fields {
		size += metadataSize(f.K) + metadataSize(f.V)
	}
	if size > maxMetadata {
		return errMetadata
	}
	return nil
}

// metadataSize is how R2 counts a text: a byte for a character, two for each
// UTF-16 unit when any is beyond Latin 1.
func metadataSize(s string) int {
	units, wide := 0, 1
	for _, r := range s {
		units++
		if r > 0xffff {
			units++
		}
		if r > 0xff {
			wide = 2
		}
	}
	return units * wide
}
