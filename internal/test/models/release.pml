/* The release: hold, drain, seal, fork, check, commit, switch, apart; a crash of the daemon at each
 * step, a worker host that dies alone, a commit whose answer is lost, late requests.
 *
 * OLD is production. The daemon makes NEW from the sealed cut of OLD. Clients write through the
 * production host name, or through the own host name of OLD. A log is a set of writes (bits).
 * models_test.go lists what is checked, with the broken variants that must give a counterexample.
 */
#ifndef CRASHES
#define CRASHES 1
#endif
#ifdef TAKEOVER     /* the daemon's machine is lost; another one continues with its copy of the registry */
#define MACHINES    /* worker hosts run on other machines and survive the daemon */
#endif
#define OLD 0
#define NEW 1
#define OPEN 0
#define SEALED 1    /* writes wait */
#define REFUSE 2    /* writes fail with version_released, until the process ends */
#define PROD 0      /* through the production host name */
#define OWN 1       /* through the own host name of OLD, the API, … */

byte prod = OLD;              /* the registry */
byte copy = OLD;              /* its copy, which survives the machine */
byte route = OLD;             /* the gateway */
byte gate[2];
bool up[2];
byte gen[2];                  /* of the process; a request ends with it */
byte log[2];
byte late[2];                 /* requests of the production host name that run, by version */
bool hold, daemon, excluded, apart, done, cut_bad;
byte acked_prod, acked_own;   /* own: by OLD before `apart` */
byte crashes, kills;

#define BIT(i) (1 << i)

/* The end of a process. `apart` is the end of the process of OLD that was production: the next one
 * began nothing for production, and its gate is open. */
inline stop(v) {
  up[v] = false; gen[v]++; late[v] = 0; gate[v] = OPEN;
  if :: v == OLD && prod == NEW -> apart = true :: else fi
}

proctype Client(byte i; byte via) {
  byte t; byte g;
  atomic {
    daemon && (via == OWN || !hold) && up[(via == PROD -> route : OLD)] ->
    t = (via == PROD -> route : OLD); g = gen[t];
    if :: via == PROD -> late[t]++ :: else fi
  }
  do
  :: atomic { gen[t] != g || !up[t] -> goto end }                          /* it died with its process */
#ifdef SEAL_PRODUCTION_ONLY
  :: atomic { gen[t] == g && up[t] && (gate[t] == OPEN || (gate[t] == SEALED && via == OWN)) -> log[t] = log[t] | BIT(i); break }
#else
  :: atomic { gen[t] == g && up[t] && gate[t] == OPEN -> log[t] = log[t] | BIT(i); break }
#endif
  :: atomic { gen[t] == g && up[t] && gate[t] == REFUSE -> goto refused }
  od;
  if
  :: atomic { gen[t] == g && up[t] ->                                      /* acknowledged */
       if :: via == PROD -> acked_prod = acked_prod | BIT(i)
          :: via == OWN && !apart -> acked_own = acked_own | BIT(i)
          :: else
       fi }
  :: atomic { gen[t] != g || !up[t] -> skip }
  fi;
refused:
  atomic { if :: via == PROD && gen[t] == g -> late[t]-- :: else fi };
end: skip
}

#define MAY_CRASH if :: skip :: crashes < CRASHES -> crashes++; goto dead fi

proctype Daemon() {
boot:
  /* The start: the registry decides. Before the commit back, after it forward. */
  atomic {
    daemon = true; hold = false; excluded = false; route = prod;
    if :: gate[OLD] != OPEN -> stop(OLD) :: else fi;                       /* it ended when it lost its line */
    up[OLD] = true;
    if :: prod == NEW -> up[NEW] = true; gate[NEW] = OPEN; apart = true; done = true
       :: else -> stop(NEW)
    fi
  }
  if :: done -> goto end :: else fi;
#ifdef FORWARD_ALWAYS
  if :: log[NEW] != 0 -> up[NEW] = true; gate[OLD] = SEALED; goto commit :: else fi;
#endif
  if :: crashes == CRASHES -> goto end :: skip fi;                         /* may or may not try again */
  excluded = true; MAY_CRASH;
#ifdef FORK_BEFORE_SEAL
  log[NEW] = log[OLD]; MAY_CRASH;
#endif
  hold = true; MAY_CRASH;
  if                                                                        /* drain */
  :: late[OLD] == 0
  :: skip                                                                   /* --late-requests refuse */
  :: goto abort
  fi;
  MAY_CRASH;
  if :: atomic { up[OLD] -> gate[OLD] = SEALED } :: !up[OLD] -> goto abort fi;
  MAY_CRASH;
#ifndef FORK_BEFORE_SEAL
  if
  :: atomic { up[OLD] -> log[NEW] = log[OLD] }
  :: atomic { up[OLD] -> log[NEW] = 0; cut_bad = true }                     /* a wrong cut */
  :: !up[OLD] -> goto abort
  fi;
  MAY_CRASH;
#endif
#ifndef NO_CHECK
  if :: cut_bad -> goto abort :: else fi;
#endif
  up[NEW] = true; gate[NEW] = SEALED; MAY_CRASH;
commit:
  if
  :: atomic { true -> prod = NEW; if :: !up[OLD] -> apart = true :: else fi }
  :: atomic { true -> prod = NEW; if :: !up[OLD] -> apart = true :: else fi };  /* it happened, and the answer is lost */
#ifdef NO_READ_BACK
     goto abort
#endif
  :: goto abort                                                             /* the limit, or a failure */
  fi;
  MAY_CRASH;
#ifndef NO_SETTLE
  copy = NEW; MAY_CRASH;
#endif
  excluded = false; MAY_CRASH;                                              /* the supervisor may start OLD again */
  atomic { if :: up[OLD] -> gate[OLD] = REFUSE :: else fi };
  MAY_CRASH;
  route = NEW; gate[NEW] = OPEN; hold = false; MAY_CRASH;
  copy = NEW;
#ifdef AS_WRITTEN    /* the gate opens in the process that was production: its late requests write */
  atomic { apart = true; gate[OLD] = OPEN; done = true };
#else                /* the process ends, after its requests or with them; the next one is asleep until it is needed */
  atomic { stop(OLD); done = true }; MAY_CRASH;
  up[OLD] = true;
#endif
  goto end;
abort:
  atomic { cut_bad = false; stop(NEW); gate[OLD] = OPEN; excluded = false; hold = false };
  MAY_CRASH;
  goto end;
dead:
  atomic { daemon = false; hold = false; cut_bad = false;
#ifdef TAKEOVER
    prod = copy;
#endif
#ifndef MACHINES
    stop(OLD); stop(NEW)
#endif
  };
  goto boot;
end:
  skip
}

/* The process of OLD dies alone; the supervisor starts it again, but not one that a release has. */
proctype Supervisor() {
  atomic { up[OLD] && daemon && kills < 1 -> kills++; stop(OLD) };
#ifdef RESTART_SEALED
  atomic { daemon -> up[OLD] = true }
#else
  atomic { daemon && !excluded -> up[OLD] = true }
#endif
}

#ifdef MACHINES
/* A worker host of another machine that loses its line while it is sealed, or refuses, ends at some time. */
proctype Line() {
  do
#ifdef LINE_LOST_KEEPS_SEALED_THEN_OPENS
  :: atomic { !daemon && up[OLD] && gate[OLD] != OPEN -> gate[OLD] = OPEN }
#else
  :: atomic { !daemon && up[OLD] && gate[OLD] != OPEN -> stop(OLD) }
#endif
  :: atomic { daemon && (done || crashes == CRASHES) -> break }
  od
}
#endif

/* A clock of the worker host opens its gate. */
#ifdef CLOCK_OPENS
proctype Clock() { atomic { up[OLD] && gate[OLD] == SEALED -> gate[OLD] = OPEN } }
#endif

/* Another goroutine enforces the limit. */
#ifdef ABORT_RACES
proctype Limit() { atomic { hold -> gate[OLD] = OPEN; hold = false } }
#endif

#define LOST_PROD ((prod == OLD && (acked_prod & ~log[OLD]) != 0) || (prod == NEW && (acked_prod & ~log[NEW]) != 0))
#define LOST_OWN  (prod == NEW && (acked_own & ~log[NEW]) != 0)
active proctype M1() { atomic { LOST_PROD -> assert(false) } }              /* no acknowledged write outside production's lineage */
active proctype M2() { atomic { LOST_OWN -> assert(false) } }               /* nor one that OLD acknowledged before `apart` */
active proctype M3() { atomic { daemon && prod == NEW && !apart && up[OLD] && gate[OLD] == OPEN -> assert(false) } }
active proctype End() { atomic { timeout -> assert(daemon && route == prod && up[prod] && gate[prod] == OPEN && !hold) } }

init { atomic {
  run Daemon(); run Supervisor();
  run Client(0, PROD); run Client(1, PROD); run Client(2, OWN);
#ifdef MACHINES
  run Line();
#endif
#ifdef CLOCK_OPENS
  run Clock();
#endif
#ifdef ABORT_RACES
  run Limit();
#endif
} }
