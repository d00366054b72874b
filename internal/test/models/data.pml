/* The data of versions: fence, takeover, fork, sweep, crashes.
 *
 * One parent version with one log of SLOTS slots, two owners on two machines, one child that is
 * forked from it, one sweeper that merges and deletes. The store is atomic and linearizable, as S3
 * is; an owner may die at any step, may be suspended for any time (it just does not run), and a
 * request of a dead owner may still arrive (late).
 *
 * Variants: ACK_FIRST acknowledges before the PUT; NO_FENCE takes a slot of another owner for its own;
 * NO_CLAIM serves without a first transaction in the log; CUT_EARLY forks one transaction too early;
 * NO_GRACE deletes what a fork under way still reads; NO_PINS deletes what children read.
 */
#define SLOTS 5
#define NONE 0

/* The store. slot[i]: who made transaction i (0: free). Create-only. */
byte slot[SLOTS + 1];
bool deleted[SLOTS + 1];
byte image;            /* a merged file has 1..image */
byte dead_to;          /* 1..dead_to are in a dead list (superseded by the image) */
bool dead_old;         /* the grace of that list has ended */
byte rec_owner = 1;    /* version.json */
byte rec_epoch = 1;
byte child_cut;        /* branch.json of the child: forked at this transaction, 0: none */
byte child_image;      /* its plan: image, then slots up to the cut */
bool child_made;
bool forking;          /* a fork has its cut and not its manifest: takes less than the grace */

/* What clients know. */
byte acked;            /* highest acknowledged transaction */
byte acked_at_fork;
bool claimed2;         /* owner 2 has claimed, at: it serves */
byte claimed_at;
bool bad_ack;          /* an owner acknowledged after the other had claimed */

/* owner 1 appends and acknowledges; it may be taken over at any time and not notice. */
proctype Owner1() {
  byte pos = 0; byte n = 0; bool inflight = false;
  do
  :: n < 3 && pos < SLOTS ->
     n++;
     inflight = true;
#ifdef ACK_FIRST
     acked = pos + 1;
#endif
     /* one PUT, if absent; the process may die before, or after without the answer */
     if
     :: atomic { slot[pos + 1] == NONE -> slot[pos + 1] = 1; pos++ }
        if
        :: atomic { /* acknowledged */
             if :: claimed2 && pos > claimed_at -> bad_ack = true :: else fi;
             acked = (acked < pos -> pos : acked) }
        :: break /* the answer is lost, and the process dies */
        fi
     :: atomic { slot[pos + 1] != NONE ->
#ifdef NO_FENCE
          /* takes it as its own */
          pos++; acked = (acked < pos -> pos : acked); if :: slot[pos] == 2 -> bad_ack = true :: else fi
#else
          break /* fenced: stops for good */
#endif
        }
     :: break /* killed before */
     fi
  :: break
  od
}

/* owner 2 takes over: record first, then a first transaction in the log (the claim). */
proctype Owner2() {
  byte pos = 0; byte i; byte n = 0;
  atomic { rec_owner = 2; rec_epoch++ }
again:
  /* find the end of the log: a listing and one request for the next slot */
  atomic { pos = image; do :: pos < SLOTS && slot[pos + 1] != NONE -> pos++ :: else -> break od }
#ifndef NO_CLAIM
  if
  :: pos < SLOTS ->
     if
     :: atomic { slot[pos + 1] == NONE -> slot[pos + 1] = 2; pos++ }
     :: atomic { slot[pos + 1] != NONE -> goto again } /* the old owner wrote once more */
     fi
  :: else -> goto end
  fi;
#endif
  atomic { claimed2 = true; claimed_at = pos;
    /* what it serves must have every acknowledged write */
    assert(pos >= acked) }
  do
  :: n < 1 && pos < SLOTS ->
     n++;
     if
     :: atomic { slot[pos + 1] == NONE -> slot[pos + 1] = 2; pos++;
          acked = (acked < pos -> pos : acked) }
     :: atomic { slot[pos + 1] != NONE -> break }
     fi
  :: break
  od;
end: skip
}

/* The daemon forks the parent at the position that its owner has shipped. */
proctype Fork() {
  byte cut; byte img; byte seen;
  atomic { seen = acked; forking = true;
           cut = image; do :: cut < SLOTS && slot[cut + 1] != NONE -> cut++ :: else -> break od;
           img = image }
#ifdef CUT_EARLY
  if :: cut > img && cut > 0 -> cut-- :: else fi;
#endif
  if
  :: atomic { child_cut = cut; child_image = img; child_made = true; acked_at_fork = seen; forking = false }
  :: atomic { forking = false } /* the daemon dies: no child */
  fi
}

/* The owner merges; the sweeper deletes what is dead for the grace and pinned by nobody. */
proctype Compact() {
  byte to;
  atomic { to = 0; do :: to < SLOTS && slot[to + 1] != NONE -> to++ :: else -> break od }
  if :: to > 1 -> atomic { image = to; dead_to = to - 1 } /* the newest slot stays: it gives the position */
     :: else fi
}

proctype Clock() { /* the grace ends: no fork that had its cut before takes that long */
#ifdef NO_GRACE
  atomic { dead_to > 0 -> dead_old = true }
#else
  atomic { dead_to > 0 && !forking -> dead_old = true }
#endif
}

proctype Sweep() {
  byte i; byte pin_cut; byte pin_img; bool pin; byte epoch;
  dead_old || timeout;
  if :: !dead_old -> goto out :: else fi;
  /* survey: the listing, then the manifests */
  pin = child_made; pin_cut = child_cut; pin_img = child_image; epoch = rec_epoch;
  i = 1;
  do
  :: i <= dead_to ->
     atomic {
       if
#ifndef NO_PINS
       :: pin && i > pin_img && i <= pin_cut -> skip
#endif
       :: else -> deleted[i] = true
       fi;
       i++ }
  :: else -> break
  od;
out: skip
}

/* What must hold in every state. */
#define HAVE(i)  (!deleted[i] || image >= i)                                             /* the parent restores i */
#define CHILD(i) (!child_made || child_cut < i || child_image >= i || !deleted[i])       /* so does the child */
#define STORED(i) (acked < i || slot[i] != 0)
active proctype M1() { atomic { bad_ack -> assert(false) } }                             /* never two that acknowledge */
active proctype M2() { atomic { child_made && child_cut < acked_at_fork -> assert(false) } }
active proctype M3() { atomic { !(HAVE(1) && HAVE(2) && HAVE(3) && HAVE(4)) -> assert(false) } }
active proctype M4() { atomic { !(CHILD(1) && CHILD(2) && CHILD(3) && CHILD(4)) -> assert(false) } }
active proctype M5() { atomic { !(STORED(1) && STORED(2) && STORED(3) && STORED(4)) -> assert(false) } }

init { atomic { run Owner1(); run Owner2(); run Fork(); run Compact(); run Clock(); run Sweep() } }
