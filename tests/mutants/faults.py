# SPDX-License-Identifier: MIT
"""Faults for the template engine: each breaks one duty, and names the test that must notice it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    duty: int      # as docs/howto/add-an-engine.md numbers them
    what: str      # what the faulty engine does
    caught_by: str  # the conformance test
    edits: tuple   # pairs: a statement or expression of the template, found once in it; what is done instead
    variant: str = "template"


def fault(duty, what, caught_by, *edits, variant="template"):
    return Fault(duty, what, caught_by, edits, variant)


_END_STREAM = "if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, now());"

FAULTS = [
    fault(1, "accepts all who wait at once", "Fairness.WhoeverIsServedDoesNotWaitForAllWhoConnect",
          ("return accept_peers(*listener, SOCK_NONBLOCK);",
           "for (int i = 0; i < 100; ++i) accept_peers(*listener, SOCK_NONBLOCK); return;")),
    fault(2, "listens on the first address only", "Stream.ServesEveryAddressOfItsName",
          ("for (Listener* const listener : listeners())\n"
           "    control(EPOLL_CTL_MOD, listener->fd(), accepts ? EPOLLIN : 0U, listener);",
           "control(EPOLL_CTL_MOD, listeners()[0]->fd(), accepts ? EPOLLIN : 0U, listeners()[0]);")),
    fault(3, "asks for newcomers it cannot accept", "Crowd.OutOfDescriptorsServesOnAndRecovers",
          ("!listeners().empty() && !accepting_paused()", "!listeners().empty()")),
    fault(3, "does not accept again after a shortage", "Crowd.FifthWaitsWhereFourAreAllowed",
          ("accepting_ = accepts;", "accepting_ = true;")),
    fault(4, "reads from a fast peer without end", "Fairness.AFlooderIsReadFromUpToItsQuota",
          ("if (connection.bytes_received() >= quota) return unfinished_.push(peer);", "")),
    fault(5, "reads what the session does not want", "PressureOfAll.WhatIsNotWantedStaysAtThePeer",
          ("peer.readable && connection.wants_input()", "peer.readable"),
          ("peer.connection->wants_input() ? EPOLLIN : 0U", "EPOLLIN")),
    fault(6, "does not send what the last read was answered with", "Stream.OneMebibyteThenSilence",
          ("peer.readable = receive_ready(peer.socket.get(), connection, buffer_, peer.hung_up, now());\n"
           "    flush(peer);",
           "peer.readable = receive_ready(peer.socket.get(), connection, buffer_, peer.hung_up, now());")),
    fault(6, "never ends its direction of the stream", "Ending.ReplyArrivesThoughThePeerSendsOn",
          (_END_STREAM, "")),
    fault(6, "closes where it should end its direction", "Ending.ReplyArrivesThoughThePeerSendsOn",
          (_END_STREAM,
           "if (peer.connection->wants_shutdown()) leave(peer);")),
    fault(6, "takes a hang-up for the end, with bytes unread", "Ending.LastBytesOfAPeerThatHasClosed",
          ("if ((events & kEnd) != 0) peer.hung_up = true;",
           "if ((events & kEnd) != 0) return leave(peer);")),
    fault(7, "sends to a fast reader without end", "Fairness.AFastReaderIsSentToUpToItsQuota",
          ("if (++sends > kSendsPerTurn) return unfinished_.push(peer);", "")),
    fault(7, "forgets a reader whose quota is used up", "Fairness.AFastReaderIsSentToUpToItsQuota",
          ("if (++sends > kSendsPerTurn) return unfinished_.push(peer);",
           "if (++sends > kSendsPerTurn) return;")),
    fault(8, "neither splices nor says so", "FileByKernelOn.DoesAsItWasToldOrSaysThatItCannot",
          ("if (connection.store()) note_plain_files();", "")),
    fault(9, "does not ask sessions again after a publication", "Publishing.AllHearWhenTheLastHasCome",
          ("pass_publications();", "")),
    fault(9, "sleeps while others publish", "Publishing.ReachesALoopThatSleeps",
          ("control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());", "")),
    fault(10, "sends each publication by itself", "Publishing.WhatIsPublishedTogetherIsSentTogether",
          ("if (is_batching()) return;", "")),
    fault(11, "never looks at the deadlines", "Ending.IdlePeerIsClosed", ("fire_deadlines();", "")),
    fault(11, "sleeps until an event, however long", "Ending.IdlePeerIsClosed",
          ("unfinished_.empty() ? next_wait() : Duration::zero()", "Duration(WaitStrategy::kForever)")),
    fault(12, "sleeps where it is told to spin", "Spinning.DoesNotSleepWhereItIsToldToSpin",
          ("unfinished_.empty() ? next_wait() : Duration::zero()",
           "Duration(unfinished_.empty() ? std::max<Duration>(next_wait(), std::chrono::seconds(1))"
           " : Duration::zero())"), variant="template__wait_spin_threads_2"),
    fault(13, "always asks whether there is room to send", "Waiting.SleepsWhileNobodySpeaks",
          ("peer.full ? EPOLLOUT : 0U", "EPOLLOUT")),
    fault(13, "asks for input that is not wanted", "Waiting.SleepsWhileWhatArrivesIsNotWanted",
          ("peer.connection->wants_input() ? EPOLLIN : 0U", "EPOLLIN")),
    fault(13, "is woken by the stop again and again", "Waiting.SleepsWhileAStopWaits",
          ("return control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);", "return;")),
    fault(13, "does not take notice of its waker", "Waiting.SleepsWhileNobodySpeaks",
          ("return admit_dealt();", "return;")),
    fault(14, "takes a signal for an error", "WaitErrors.SignalsAndShortagesPass",
          ("error != 0 && error != ENOMEM && error != EINTR", "error != 0 && error != ENOMEM")),
    fault(14, "spins while the kernel has no memory", "LastingWaitErrors.AShortageThatLastsBurnsNoCore",
          ("if (error == ENOMEM) pause_for_shortage();", "")),
    fault(14, "goes on after errors that stay",
          "LastingWaitErrors.AnErrorThatNothingCanMendEndsTheRunOrBurnsNoCore",
          ("error != 0 && error != ENOMEM && error != EINTR", "false")),
    fault(15, "does not hear a reset while nothing is wanted", "Ending.HearsAResetWhileNothingIsWanted",
          ("(events & EPOLLERR) != 0 && !peer.connection->wants_input()", "false")),
    fault(16, "is woken by a hang-up again and again", "Waiting.SleepsBesideAPeerThatHasHungUp",
          ("if (events == EPOLLERR && peer.hung_up) events = 0;", "")),
    fault(17, "lets one session's exception end the run", "Misfortune.OfASessionThatThrowsIsItsOwn",
          ("attend(peer);", "serve(peer);")),
    fault(18, "takes every connect for a success", "DialTo.NobodyThere",
          ("finish_dial(peer, connect_result(peer.socket.get()));", "finish_dial(peer, 0);")),
    fault(18, "gives up a unix socket whose queue is full", "DialTo.AUnixSocketWhoseQueueIsFull",
          ("return finish_dial(peer, result == 0 ? 0 : errno);",
           "return finish_dial(peer, result == 0 ? 0 : errno == EAGAIN ? ECONNREFUSED : errno);")),
    fault(19, "leaves those who wait in the queue", "Stopping.WhoIsInTheQueueIsServed",
          ("end_accepting(SOCK_NONBLOCK);",
           "for (Listener* listener : listeners()) listener->close(); end_accepting(SOCK_NONBLOCK);")),
    fault(20, "does not look what has arrived before the stop",
          "Stopping.AnswersWhatArrivesUntilSessionsAreTold",
          ("for (const auto& peer : peers()) peer->readable = true;", "")),
    fault(20, "does not tell sessions of the stop", "Stopping.PeersWithNothingUnderWayReadTheEnd",
          ("begin_drain();", "")),
    fault(20, "does not heed the second stop", "Stopping.TheSecondStopEndsAtOnce",
          ("!over()", "!over() || (stop().at_once() && !peers().empty())")),
    fault(21, "keeps the sockets of those who have gone", "Ending.SocketsOfThoseWhoHaveGoneAreClosed",
          ("sweep();", "")),
    fault(21, "leaves a descriptor behind", "Stopping.WithNobodyThere",
          ("stopping_ = true;", "stopping_ = true; static_cast<void>(::epoll_create1(EPOLL_CLOEXEC));")),
]
