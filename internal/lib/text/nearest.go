package text

import (
	"iter"
	"slices"
)

// Nearest finds the known word that was probably meant, or "".
func Nearest(typo string, known iter.Seq[string]) string {
	best, limit := "", 1+len(typo)/4
	for _, word := range slices.Sorted(known) {
		if d := distance(typo, word); d <= limit {
			best, limit = word, d-1
		}
	}
	return best
}

// distance is how many letters to insert, delete or change (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
