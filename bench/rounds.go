package main

import "slices"

// subject is something that is measured once per round.
type subject func() (float64, error)

// alternate measures the subjects in turn, for some rounds and each round in the
// other direction, so that a disturbance of the machine hits all of them. It
// gives each subject's figures, by round.
func alternate(rounds int, subjects ...subject) ([][]float64, error) {
	figures := make([][]float64, len(subjects))
	order := make([]int, len(subjects))
	for i := range order {
		order[i] = i
	}
	for range rounds {
		for _, i := range order {
			figure, err := subjects[i]()
			if err != nil {
				return nil, err
			}
			figures[i] = append(figures[i], figure)
		}
		slices.Reverse(order)
	}
	return figures, nil
}

// median is the middle figure, or the mean of the two in the middle.
func median(figures []float64) float64 {
	s := slices.Sorted(slices.Values(figures))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// quantile is the figure that a share of all figures do not exceed.
func quantile(figures []float64, share float64) float64 {
	s := slices.Sorted(slices.Values(figures))
	return s[min(int(share*float64(len(s))), len(s)-1)]
}

// ratio is the median of a/b, round by round.
func ratio(a, b []float64) float64 {
	each := make([]float64, len(a))
	for i := range a {
		each[i] = a[i] / b[i]
	}
	return median(each)
}
