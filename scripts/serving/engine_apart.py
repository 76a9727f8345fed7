"""Runs an engine in a process separate from its clients, and defines the answer to a request."""
import contextlib
import dataclasses
import multiprocessing
import threading
import time


@dataclasses.dataclass
class Answer:
    times: list  #: arrival times of tokens, by perf_counter
    rounds: int  #: rounds after the first token

    sent: float = 0
    done: float = 0

    def ends(self):
        """The end times of the prompt's step and of each round, found as the longest waits: tokens of a round arrive together."""
        waits = sorted(range(1, len(self.times)), key=lambda i: self.times[i - 1] - self.times[i])
        return [self.times[i] for i in [0, *sorted(waits[: self.rounds])]]

    def ttft(self):
        return 1e3 * (self.times[0] - self.sent)

    def tpot(self):
        return 1e3 * (self.times[-1] - self.times[0]) / (len(self.times) - 1)


class Stepped:
    """An engine whose steps are called here, in a separate process, because an engine that holds Python's lock during a step would keep clients
    from sending. It has
      encoded(text) and length(prompt), a prompt's tokens and their number;
      add(number, prompt, seed, output), which queues a request;
      step(), which runs a step and returns (number, tokens) of the requests that have new ones."""

    @classmethod
    def apart(cls, setting, gamma):
        return Apart(cls, setting, gamma)

    def serve(self, connection):
        left = {}
        while True:
            while not left or connection.poll():
                number, text, seed, output = connection.recv()
                prompt = self.encoded(text)
                if output == 0:
                    connection.send((0.0, [(number, self.length(prompt))]))
                    continue
                left[number] = output
                self.add(number, prompt, seed, output)
            emitted = self.step()
            connection.send((time.perf_counter(), emitted))
            for number, tokens in emitted:
                left[number] -= tokens
            left = {number: tokens for number, tokens in left.items() if tokens > 0}


def serve(engine, setting, gamma, connection):
    server = engine(setting, gamma)
    connection.send(None)
    with contextlib.suppress(EOFError):  # the client has closed the connection
        server.serve(connection)


class Asked:
    def __init__(self):
        self.times, self.rounds, self.whole = [], -1, threading.Event()


class Apart:
    """The client's side of a Stepped engine, which forwards requests to its process."""

    def __init__(self, engine, setting, gamma):
        self.connection, theirs = multiprocessing.Pipe()
        multiprocessing.get_context("spawn").Process(target=serve, args=(engine, setting, gamma, theirs), daemon=True).start()
        theirs.close()
        self.connection.recv()
        self.asked, self.lock, self.number = {}, threading.Lock(), 0
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            now, emitted = self.connection.recv()
            for number, tokens in emitted:
                asked, output = self.asked[number]
                asked.rounds += 1  # the first round is the prompt's
                asked.times += [now] * tokens
                if len(asked.times) >= output:
                    asked.whole.set()
                    del self.asked[number]

    def ask(self, text, seed, output):
        asked = Asked()
        with self.lock:
            self.number += 1
            self.asked[self.number] = asked, output
            self.connection.send((self.number, text, seed, output))
        asked.whole.wait()
        return asked

    def prompt_tokens(self, text):
        return len(self.ask(text, 0, 0).times)

    def answer(self, text, seed, output):
        asked = self.ask(text, seed, output)
        return Answer(asked.times, asked.rounds)
