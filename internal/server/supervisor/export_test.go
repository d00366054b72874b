package supervisor

// SparePIDs returns the processes of the hosts that wait for a version.
func (s *Supervisor) SparePIDs() (pids []int) {
	s.spares.mu.Lock()
	defer s.spares.mu.Unlock()
	for _, p := range s.spares.ready {
		pids = append(pids, p.cmd.Process.Pid)
	}
	return pids
}
