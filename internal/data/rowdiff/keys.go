package rowdiff

import "strings"

// keyColumns counts the columns of the primary key in the text of a CREATE TABLE, 0 when
// it finds none. The engine has checked the text.
func keyColumns(sql string) int {
	words := tokens(sql)
	for i := 0; i+1 < len(words); i++ {
		if words[i] != "PRIMARY" || words[i+1] != "KEY" {
			continue
		}
		if i+2 < len(words) && words[i+2] == "(" {
			return listed(words[i+3:])
		}
		return 1 // of a column
	}
	return 0
}

// listed counts the different columns of a list until its end.
func listed(words []string) int {
	names := map[string]bool{}
	first := true
	for _, w := range words {
		switch {
		case w == ")":
			return len(names)
		case w == ",":
			first = true
		case first:
			names[w] = true
			first = false
		}
	}
	return len(names)
}

// tokens splits SQL into upper-case words, names without their quotes and single
// characters. Texts and comments are left out.
func tokens(sql string) (words []string) {
	for i := 0; i < len(sql); {
		c := sql[i]
		switch end := quoteEnd(c); {
		case strings.HasPrefix(sql[i:], "--"):
			i += until(sql[i:], "\n")
		case strings.HasPrefix(sql[i:], "/*"):
			i += 2 + until(sql[i+2:], "*/")
		case end != 0:
			name, n := quoted(sql[i+1:], end)
			i += 1 + n
			words = append(words, "\""+strings.ToUpper(name))
		case wordByte(c):
			n := 1
			for i+n < len(sql) && wordByte(sql[i+n]) {
				n++
			}
			words = append(words, strings.ToUpper(sql[i:i+n]))
			i += n
		default:
			if c > ' ' {
				words = append(words, string(c))
			}
			i++
		}
	}
	return words
}

// quoteEnd is the character that ends what c begins, 0 for none.
func quoteEnd(c byte) byte {
	switch c {
	case '\'', '"', '`':
		return c
	case '[':
		return ']'
	}
	return 0
}

// quoted returns a name and how many bytes it has with its end; a doubled end stands for
// the character.
func quoted(s string, end byte) (name string, n int) {
	var b strings.Builder
	for n < len(s) {
		if s[n] == end {
			if end == ']' || n+1 == len(s) || s[n+1] != end {
				return b.String(), n + 1
			}
			n++
		}
		b.WriteByte(s[n])
		n++
	}
	return b.String(), n
}

// until is how many bytes of s there are to the end of the next mark.
func until(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return len(s)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
