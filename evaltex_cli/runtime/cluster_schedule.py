"""Which worker of a Dask cluster does what.

Each piece of work is submitted to one worker, chosen here. So it is known which worker has what,
work goes to workers of the same versions only, and what a lost worker had is done again elsewhere,
at most three times.
"""

from __future__ import annotations

import asyncio
import pickle
import queue
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from evaltex_cli.errors import InputError, listed
from evaltex_cli.runtime import AHEAD, ATTEMPTS, FailedError, Item, Result, cluster_worker
from evaltex_cli.runtime.cluster_versions import (
    CONNECT_SECONDS,
    described,
    refuse_other_scheduler,
    worker_problems,
)
from evaltex_cli.runtime.cluster_worker import State

LOOK_SECONDS = 1.0
"""Between looks at the workers."""
ANSWER_SECONDS = 5.0
"""A worker or scheduler that has been silent for longer is reported, and gets no new work."""
TIMEOUT = 60.0
"""Seconds after which a silent one counts as lost."""
_PAUSED = " (Dask pauses a worker that is near its memory limit)"
Warn = Callable[[str], None]


@dataclass(slots=True, eq=False)
class _Worker:
    """A worker process, and the tasks that it has; `well` is when it was last known to work."""

    address: str
    id: str
    name: str
    threads: int
    well: float
    is_fit: bool = False
    is_lost: bool = False
    is_judged: bool = False
    is_reported: bool = False
    look: Future[Any] | None = None
    tasks: set[_Task] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class _Task:
    """A piece of work: who has it, what came of it, and how often it failed."""

    item: Any
    worker: _Worker | None = None
    running: Future[Any] | None = None
    take: Callable[[], Any] | None = None
    attempts: int = 0
    avoided: set[str] = field(default_factory=set)


class Cluster:
    """The workers of a scheduler, as this process knows them; an `OrderedMap`."""

    is_elsewhere = True

    def __init__(
        self, client: Any, address: str, paths: list[str], timeout: float, warn: Warn
    ) -> None:
        self._client, self._place, self._paths = client, f"cluster {address}", paths
        self._timeout = timeout
        self._warn: Warn = lambda line: warn(f"{self._place}: {line}")
        self._versions = cluster_worker.versions()
        self._workers: dict[str, _Worker] = {}
        self._losses: Counter[str] = Counter()
        self._ended: queue.SimpleQueue[tuple[_Task, Future[Any]]] = queue.SimpleQueue()
        self._looked = self._answered = self._able = time.monotonic()
        self._is_reported = False
        refuse_other_scheduler(client, self._place, self._versions)
        self._refuse_other_workers()
        self._idle = time.monotonic()

    def __call__(
        self, function: Callable[[Item], Result], items: Iterable[Item], /
    ) -> Iterator[Result]:
        """Yield the function of each item; see `OrderedMap`.

        Raises
        ------
        FailedError
            When three attempts at one item failed.
        InputError
            When there was no worker for too long.
        """
        waiting: deque[_Task] = deque()
        left = iter(items)
        self._leave_out(self._idle)
        try:
            while True:
                most = AHEAD * max(
                    sum(worker.threads for worker in self._workers.values() if worker.is_fit), 1
                )
                for item in left if len(waiting) < most else ():
                    waiting.append(_Task(item))
                    if len(waiting) == most:
                        break
                if not waiting:
                    return
                self._assign(function, waiting)
                if waiting[0].take is None:
                    self._wait(waiting)
                else:
                    self._idle = time.monotonic()
                    yield waiting.popleft().take()  # type: ignore[misc]
                    self._leave_out(self._idle)
        finally:
            self._idle = time.monotonic()
            for task in waiting:
                self._withdraw(task)

    def _leave_out(self, start: float) -> None:
        """Count no time of silence since then, for nobody looked."""
        now = time.monotonic()
        self._answered = min(self._answered + now - start, now)
        self._able = min(self._able + now - start, now)

    # Who has what ---------------------------------------------------------------------------------

    def _assign(self, function: Callable[[Any], Any], waiting: Iterable[_Task]) -> None:
        if self._client.status != "running":
            return
        for task in waiting:
            if task.take is None and task.worker is None:
                worker = self._worker_for(task)
                if worker is not None:
                    payload = pickle.dumps((function, task.item), pickle.HIGHEST_PROTOCOL)
                    task.worker = worker
                    worker.tasks.add(task)
                    task.running = self._soon(self._work(worker.address, payload))
                    task.running.add_done_callback(partial(self._has_ended, task))

    def _has_ended(self, task: _Task, running: Future[Any]) -> None:
        self._ended.put((task, running))

    def _worker_for(self, task: _Task) -> _Worker | None:
        """Return the least busy worker; for a task that has failed before,
        one that has nothing else, another first.
        """
        if task.attempts:
            free = [worker for worker in self._usable() if not worker.tasks]
            return min(free, key=lambda worker: worker.name in task.avoided, default=None)
        open_ones = [
            worker
            for worker in self._usable()
            if len(worker.tasks) < AHEAD * worker.threads
            and not any(other.attempts for other in worker.tasks)
        ]
        return min(open_ones, key=lambda worker: len(worker.tasks) / worker.threads, default=None)

    def _usable(self) -> list[_Worker]:
        now, enough = time.monotonic(), self._answer_seconds()
        return [
            worker
            for worker in self._workers.values()
            if worker.is_fit and not worker.is_lost and now - worker.well < enough
        ]

    def _answer_seconds(self) -> float:
        """Many workers send their heartbeats less often."""
        return ANSWER_SECONDS + len(self._workers) / 50

    async def _work(self, address: str, payload: bytes) -> tuple[str, Any]:
        future = self._client.submit(
            cluster_worker.work, self._versions, payload, workers=[address], pure=False
        )
        try:
            result: tuple[str, Any] = await future
            return result
        finally:
            future.release()

    def _soon(self, coroutine: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._client.loop.asyncio_loop)

    # What comes of it -----------------------------------------------------------------------------

    def _wait(self, waiting: Sequence[_Task]) -> None:
        """Wait for a task to end, and look after the workers now and then."""
        with suppress(queue.Empty):
            task, running = self._ended.get(timeout=LOOK_SECONDS)
            if task.running is running:
                self._take(task, running)
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._look(waiting)

    def _take(self, task: _Task, running: Future[Any]) -> None:
        worker = self._withdraw(task)
        try:
            kind, value = running.result()
        except (
            BaseException
        ) as error:  # of the cluster: a client that fetches from a dying worker may raise anything
            if self._client.status == "running":
                self._fail(
                    task, worker, f"worker {worker.address}: {str(error) or type(error).__name__}"
                )
            return
        if kind == "unfit":
            if worker.is_fit:
                self._exclude(worker, [described(value)])
        elif kind == "again":
            self._fail(task, worker, f"worker {worker.address}: {value}")
        else:
            self._losses[worker.name] = 0
            task.take = lambda: _taken(kind, value, worker.address)

    def _fail(self, task: _Task, worker: _Worker, reason: str) -> None:
        task.attempts += 1
        task.avoided.add(worker.name)
        if task.attempts >= ATTEMPTS:
            task.take = lambda: _give_up(task.item, reason)
        else:
            self._warn(f"{_what(task.item)} are done again ({reason})")

    def _withdraw(self, task: _Task) -> _Worker:
        """Take a task from its worker."""
        worker, running = task.worker, task.running
        task.worker = task.running = None
        if running is not None:
            running.cancel()
        if worker is not None:
            worker.tasks.discard(task)
        return worker  # type: ignore[return-value]

    def _lose(self, worker: _Worker, reason: str) -> None:
        """Have what a worker had done again."""
        if worker.tasks:
            self._losses[worker.name] += 1
        for task in list(worker.tasks):
            self._withdraw(task)
            self._fail(task, worker, reason)
        worker.is_lost = True
        if self._losses[worker.name] == ATTEMPTS:
            self._warn(
                f"worker {worker.name} was lost {ATTEMPTS} times without a result; it gets no more"
                " work"
            )

    def _exclude(self, worker: _Worker, why: Sequence[str]) -> None:
        worker.is_fit = False
        self._warn(f"worker {worker.address} gets no work: {'; '.join(why)}")

    # Workers come and go --------------------------------------------------------------------------

    def _look(self, waiting: Sequence[_Task] = ()) -> None:
        """Ask the scheduler for its workers; raise when it, or all of them,
        were away for too long.
        """
        try:
            states = self._client.run_on_scheduler(
                cluster_worker.states, callback_timeout=ANSWER_SECONDS
            )
        except Exception as error:  # it raises anything at all
            self._refuse_lost_scheduler(str(error) or type(error).__name__)
            return
        finally:
            self._looked = now = time.monotonic()
        self._answered = now
        for worker in list(self._workers.values()):
            if worker.address not in states or states[worker.address].id != worker.id:
                self._lose(worker, f"worker {worker.address} died")
                del self._workers[worker.address]
        for address, state in states.items():
            self._update(address, state, now)
        self._refuse_no_worker(waiting, now)

    def _update(self, address: str, state: State, now: float) -> None:
        worker = self._workers.get(address)
        if worker is None:
            worker = self._workers[address] = _Worker(
                address, state.id, state.name, state.threads, now - state.silent
            )
        if state.is_able:
            worker.well = max(worker.well, now - state.silent)
        silent = now - worker.well
        is_paused = state.silent < self._answer_seconds()
        if silent < self._answer_seconds():
            worker.is_lost, worker.is_reported = self._losses[worker.name] >= ATTEMPTS, False
            self._admit(worker)
        elif silent > self._timeout and not worker.is_lost:
            silence = "took no work" if is_paused else "was silent"
            self._lose(worker, f"worker {address} {silence} for {self._timeout:g} s")
        elif worker.tasks and not worker.is_reported:
            worker.is_reported = True
            what = "; ".join(_what(task.item) for task in worker.tasks)
            silence = f"takes no work{_PAUSED}" if is_paused else "does not answer"
            self._warn(
                f"worker {address} {silence}; waiting up to {self._timeout:g} s for it, which has"
                f" {what}"
            )

    def _admit(self, worker: _Worker) -> None:
        """Compare versions and files of a worker that is new; until then it gets no work."""
        if worker.look is None:
            worker.look = self._soon(
                worker_problems(self._client, worker.address, self._paths, self._versions)
            )
        elif worker.look.done() and not worker.is_judged:
            if worker.look.exception() is not None:
                worker.look = None  # and it is asked again
                return
            problems, worker.is_judged = worker.look.result(), True
            worker.is_fit = not problems
            if problems:
                self._exclude(worker, problems)

    def _refuse_no_worker(self, waiting: Sequence[_Task], now: float) -> None:
        if self._usable():
            self._able, self._is_reported = now, False
            return
        if now - self._able > self._timeout:
            undone = next(
                (f"; {_what(task.item)} and what follows are not done" for task in waiting), ""
            )
            raise InputError(
                f"{self._place}: no worker for {self._timeout:g} s; start some, and run"
                f" again{undone}"
            )
        if waiting and now - self._able > LOOK_SECONDS and not self._is_reported:
            self._is_reported = True
            self._warn(
                f"no worker is left; waiting up to {self._timeout:g} s for one (--cluster-timeout)"
            )

    def _refuse_lost_scheduler(self, reason: str) -> None:
        if self._client.status not in ("running", "connecting"):
            raise InputError(f"{self._place}: its scheduler was lost; start it, and run again")
        silent = time.monotonic() - self._answered
        if silent > self._timeout:
            what = f"its scheduler did not answer for {self._timeout:g} s ({reason})"
            raise InputError(f"{self._place}: {what}; start it, and run again")
        if silent > ANSWER_SECONDS and not self._is_reported:
            self._is_reported = True
            self._warn(
                f"its scheduler does not answer; waiting up to {self._timeout:g} s"
                " (--cluster-timeout)"
            )

    # At the start ---------------------------------------------------------------------------------

    def _refuse_other_workers(self) -> None:
        warnings: list[str] = []
        warn, self._warn = self._warn, warnings.append
        deadline = time.monotonic() + CONNECT_SECONDS
        while True:
            self._look()
            looks = [
                worker.look
                for worker in self._workers.values()
                if worker.look and not worker.is_judged
            ]
            is_any_judged = any(worker.is_judged for worker in self._workers.values())
            if not self._workers or (is_any_judged and not looks) or time.monotonic() > deadline:
                break
            wait(looks, LOOK_SECONDS)
            time.sleep(LOOK_SECONDS / 20)
        self._warn = warn
        if warnings:
            raise InputError("\n".join(f"{self._place}: {line}" for line in warnings))
        if not self._workers:
            raise InputError(f"{self._place}: it has no worker; start some")
        if not any(worker.is_fit for worker in self._workers.values()):
            raise InputError(f"{self._place}: none of its workers answers; restart them")


def _what(item: Any) -> str:
    """Return what messages call a piece of work: its images."""
    names = getattr(item, "names", ())
    return f"images {listed(names)}" if len(names) else "some images"


def _taken(kind: str, value: bytes, address: str) -> Any:
    result = pickle.loads(value)
    if kind == "done":
        return result
    raise InputError(f"{result} (on worker {address})") if kind == "failed here" else result


def _give_up(item: Any, reason: str) -> Any:
    raise FailedError(item, reason)
