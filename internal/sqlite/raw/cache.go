package raw

import lib "modernc.org/sqlite/lib"

const (
	defaultStatements = 64
	maxKeptText       = 8 << 10 // bytes of SQL; longer texts are rarely run twice
)

// cache keeps prepared statements by their text, up to a number, and drops the
// one that was used longest ago.
type cache struct {
	max    int
	clock  uint64
	byText map[string]*Stmt
}

func (k *cache) init(most int) {
	if most <= 0 {
		most = defaultStatements
	}
	k.max, k.byText = most, make(map[string]*Stmt)
}

func (k *cache) get(text string) *Stmt {
	s := k.byText[text]
	if s == nil || s.out {
		return nil
	}
	k.clock++
	s.out, s.used = true, k.clock
	return s
}

func (k *cache) put(text string, s *Stmt) {
	if _, taken := k.byText[text]; taken || len(k.byText) >= k.max && !k.dropOldest() {
		return
	}
	k.clock++
	s.kept, s.out, s.used = true, true, k.clock
	k.byText[text] = s
}

// dropOldest makes room, unless every statement is in use.
func (k *cache) dropOldest() bool {
	var oldest string
	least := ^uint64(0)
	for text, s := range k.byText {
		if !s.out && s.used < least {
			oldest, least = text, s.used
		}
	}
	if least == ^uint64(0) {
		return false
	}
	k.byText[oldest].finalize()
	delete(k.byText, oldest)
	return true
}

func (k *cache) clear() {
	for _, s := range k.byText {
		s.Reset()
		s.finalize()
	}
	clear(k.byText)
}

// Cached is Prepare with memory: a text of exactly one statement is compiled
// once. Finalize gives the statement back; until then the text is compiled anew.
func (c *Conn) Cached(text string) (s *Stmt, rest string, err error) {
	if s := c.statements.get(text); s != nil {
		return s, "", nil
	}
	if len(text) > maxKeptText {
		return c.prepare(text, 0)
	}
	s, rest, err = c.prepare(text, lib.SQLITE_PREPARE_PERSISTENT)
	if err == nil && s != nil && rest == "" {
		c.statements.put(text, s)
	}
	return s, rest, err
}
