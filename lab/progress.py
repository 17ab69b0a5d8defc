"""The progress bar: what is being measured, how much is done, how long it will still take."""
import shutil
import sys
import time

BAR = 24


def clock(seconds):
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


class Progress:
    """Counts estimated seconds of work; the remaining time is scaled by how the past estimates turned out. On a terminal one
    line is redrawn, elsewhere every finished cell is a line."""

    def __init__(self, total_s, cells, stream=sys.stderr):
        self.total_s, self.cells, self.stream = max(total_s, 1e-9), cells, stream
        self.done_s, self.done_cells = 0.0, 0
        self.begun = time.monotonic()
        self.terminal = stream.isatty()

    def remaining(self):
        spent = time.monotonic() - self.begun
        pace = spent / self.done_s if self.done_s > 0 else 1.0
        return (self.total_s - self.done_s) * pace

    def show(self, text):
        """What happens now."""
        if not self.terminal:
            return
        filled = round(BAR * min(1.0, self.done_s / self.total_s))
        line = f"[{'#' * filled}{'.' * (BAR - filled)}] {self.done_cells}/{self.cells} {clock(self.remaining())} left  {text}"
        width = shutil.get_terminal_size().columns - 1
        self.stream.write("\r" + line[:width].ljust(width))
        self.stream.flush()

    def finished(self, seconds, text):
        """A cell is done: `seconds` as they were estimated."""
        self.done_s += seconds
        self.done_cells += 1
        if self.terminal:
            self.show(text)
        else:
            print(f"{self.done_cells}/{self.cells} {clock(self.remaining())} left  {text}", file=self.stream, flush=True)

    def note(self, text):
        """A line that stays."""
        if self.terminal:
            self.stream.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
        print(text, file=self.stream, flush=True)
