"""The entire command line: help, usage, how the process ends."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import typer

import adjudge as package
from adjudge.cli import _LINES, _build, call
from commands import Run
from tools import load
from waiting import wait_until

list_commands = load("reference").list_commands
COMMANDS = list(list_commands())
PROGRAM = [sys.executable, "-m", "adjudge"]
LIMIT = 600  # seconds, for what will never be: on a busy machine a start alone may take one
HEAVY = {"numpy", "numba", "pyarrow", "scipy", "rich", "llvmlite"}


def start(*arguments: object, **more: object) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    line = [*PROGRAM, *(str(argument) for argument in arguments)]
    pipe = subprocess.PIPE
    given = {"stdout": pipe, "stderr": pipe, "text": True, **more}
    return subprocess.Popen(line, **given)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_fits_80_columns_and_ends_with_examples(
    command: str, adjudge: Run
) -> None:
    ended = adjudge(*command.split(), "--help")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert max(map(len, lines)) <= 80
    heading = next(n for n, line in enumerate(lines) if line.strip() in ("Example:", "Examples:"))
    examples = [line.strip() for line in lines[heading + 1 :] if line.strip()]
    assert examples
    assert all(example.startswith(f"adjudge {command}") for example in examples)
    known = {name for entry in parameters(command) for name in entry.opts}
    for example in examples:
        used = re.findall(r"(?<!\S)--?[a-z][a-z-]*", example.partition(">")[0])
        assert set(used) <= known


@cache
def whole_program() -> typer.core.TyperGroup:
    group = typer.main.get_command(_build())
    assert isinstance(group, typer.core.TyperGroup)
    return group


def parameters(command: str) -> list[typer.core.TyperOption]:
    group = whole_program()
    *outer, command = command.split()
    for name in outer:
        group = group.commands[name]  # type: ignore[attr-defined]
    found = group.commands[command].params
    return [entry for entry in found if isinstance(entry, typer.core.TyperOption)]


@pytest.mark.parametrize("words", [(), ("project",), ("estimate",), ("models",)])
def test_help_shows_no_type_for_flags(adjudge: Run, words: tuple[str, ...]) -> None:
    ended = adjudge(*words, "-h")
    assert ended.code == 0
    assert "<bool>" not in ended.out


def test_every_command_can_be_quiet_and_all_with_a_result_speak_json() -> None:
    flags = {command: {o for p in parameters(command) for o in p.opts} for command in COMMANDS}
    # What a server has to say is its log.
    assert [command for command, found in flags.items() if "--quiet" not in found] == ["serve"]
    silent = [command for command, found in flags.items() if "--json" not in found]
    assert silent == ["serve"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["consensus"],
            "error: missing argument 'JUDGMENTS...' (see 'adjudge consensus --help')\n",
        ),
        (
            ["consensus", "x.csv", "--modle", "x"],
            "error: no such option: --modle (Possible options: --gold, --model, --time) "
            "(see 'adjudge consensus --help')\n",
        ),
        (
            ["consensu", "x.csv"],
            "error: no such command 'consensu'. Did you mean 'consensus'? (see 'adjudge --help')\n",
        ),
        (["models", "extra"], None),
        (
            ["judges", "x.csv", "--seed", "one"],
            "error: invalid value for '--seed': expected a whole number, such as 3 "
            "(see 'adjudge judges --help')\n",
        ),
        (["judges", "x.csv", "--threads", "0"], None),
    ],
)
def test_usage_errors_are_one_line(
    arguments: list[str], expected: str | None, adjudge: Run, folder: Path
) -> None:
    ended = adjudge(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert re.fullmatch(r"error: [a-z][^\n]+ \(see 'adjudge [^\n]*--help'\)\n", ended.err)
    if expected is not None:
        assert ended.err == expected


LOADING = """
import json, sys
import adjudge.cli
seen = {"start": sorted(sys.modules)}
for name in ("--help", "consensus --help", "consensus j.csv -o labels.csv"):
    assert adjudge.cli.call(name.split()) == 0
    seen[name] = sorted(sys.modules)
print(json.dumps(seen), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The modules that are loaded after a start, and after each of the commands run there."""
    folder = tmp_path_factory.mktemp("loading")
    rows = "".join(f"{n * 7 % 20},{j},{n % 2}\n" for j in "xyz" for n in range(20))
    (folder / "j.csv").write_text("item,judge,label\n" + rows)
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, cwd=folder, check=True
    )
    return {name: set(names) for name, names in json.loads(done.stderr.splitlines()[-1]).items()}


def test_starting_is_light(loaded: dict[str, set[str]]) -> None:
    assert HEAVY & loaded["start"] == set()
    assert "typer" in loaded["start"]


def test_the_list_of_commands_needs_none_of_them(loaded: dict[str, set[str]]) -> None:
    assert not loaded["--help"] & {f"adjudge.cli.{name}" for name in _LINES}


@pytest.mark.parametrize("name", ["--help", "consensus --help"])
def test_help_needs_nothing_heavy(loaded: dict[str, set[str]], name: str) -> None:
    assert (HEAVY - {"rich"} | {"pydantic"}) & loaded[name] == set()


def test_a_plain_fit_takes_of_scipy_what_numba_does_alone(loaded: dict[str, set[str]]) -> None:
    """Sparse matrices, distributions and optimisers are imported where one is needed."""
    after = loaded["consensus j.csv -o labels.csv"]
    assert "numba" in after
    assert not after & {f"scipy.{name}" for name in ("sparse", "stats", "optimize")}


def test_as_a_module_with_streams_apart(crowd: Path) -> None:
    process = start("look", "judgments.csv", "--json")
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out)["items"] == 4
    process = start("look", "none.csv")
    assert process.communicate(timeout=LIMIT) == (
        "",
        "error: none.csv: there is no such file; check its name and folder\n",
    )
    assert process.returncode == 2


@pytest.mark.parametrize("arguments", [["simulate", "--items", "30000", "-q"], ["--help"]])
def test_a_reader_that_goes_away_is_no_trouble(arguments: list[str]) -> None:
    with start(*arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        if arguments[0] == "simulate":
            assert process.stdout.readline() == "item,judge,label\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=LIMIT) == 141


def test_files_are_kept_where_the_reader_of_the_table_goes_away(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "j.csv").write_text(
        "item,judge,label\n" + "".join(f"i{n},j{n % 7},{n % 2}\n" for n in range(20_000))
    )
    arguments = ["consensus", "j.csv", "-q", "--judges", "judges.csv", "-m", "majority-vote"]
    reading, writing = os.pipe()

    def read_one() -> None:
        with os.fdopen(reading) as reader:
            reader.readline()

    gone = threading.Thread(target=read_one)
    gone.start()
    with os.fdopen(writing, "w") as piped:
        monkeypatch.setattr(sys, "stdout", piped)
        assert call(arguments) == 141
    gone.join(LIMIT)
    assert len((folder / "judges.csv").read_text().splitlines()) == 8


FULL_DISK = "error: standard output: cannot be used (No space left on device)\n"


@pytest.mark.parametrize("arguments", [["simulate", "-q"], ["models", "--json"], ["models"]])
def test_a_full_disk_is_reported(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert call(arguments) == 2
    assert capsys.readouterr().err == FULL_DISK


def test_a_file_that_cannot_grow_leaves_nothing(
    folder: Path, names: Callable[[Path], list[str]]
) -> None:
    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    (folder / "out.csv").write_text("before")
    process = start("simulate", "-o", "out.csv", "--truth", "t.csv", "-q", preexec_fn=small)
    _, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (2, "error: out.csv: cannot be written (File too large)\n")
    assert names(folder) == ["out.csv"]
    assert (folder / "out.csv").read_text() == "before"


def test_a_place_without_permission_to_write(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("consensus", "judgments.csv", "-q", "-o", "/proc/self/labels.csv")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: /proc/self: is a folder that may not be written into\n"


def catches(number: int) -> Callable[[int], bool]:
    """Whether a process has a handler for a signal, by the system's status of the process."""

    def does(pid: int) -> bool:
        status = Path(f"/proc/{pid}/status").read_text()
        mask = status.partition("SigCgt:")[2].split()[0]
        return bool(int(mask, 16) >> (number - 1) & 1)

    return does


def watches(pid: int) -> bool:
    """Whether a process has a thread that watches for signals."""
    return len(os.listdir(f"/proc/{pid}/task")) > 1


def has_worked(seconds: float) -> Callable[[int], bool]:
    """Whether a process has had so much of a processor, however long it had to wait for it."""

    def does(pid: int) -> bool:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
        return int(ticks) >= seconds * os.sysconf("SC_CLK_TCK")

    return does


CTRL_C = (signal.SIGINT, 130, "stopped\n")
KILL = (signal.SIGTERM, 143, "")
MOMENTS = {
    "at once": catches(signal.SIGTERM),
    "at the command line": watches,
    "while it reads": has_worked(0.8),
    "while it fits": has_worked(2.5),
}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments and gold of so many items that a fit for each takes minutes."""
    place = tmp_path_factory.mktemp("many")
    given = ["--items", "4000", "-o", place / "j.csv", "--truth", place / "t.csv", "-q"]
    assert call(["simulate", *map(str, given)]) == 0
    return place


@pytest.mark.parametrize(
    ("signal_and_end", "when"),
    [
        *(pytest.param(CTRL_C, when, id=f"Ctrl-C-{name}") for name, when in MOMENTS.items()),
        pytest.param(KILL, MOMENTS["at once"], id="kill-at once"),
        pytest.param(KILL, MOMENTS["at the command line"], id="kill-in line"),
        pytest.param(KILL, MOMENTS["while it reads"], id="kill-reading", marks=pytest.mark.full),
        pytest.param(KILL, MOMENTS["while it fits"], id="kill-fitting", marks=pytest.mark.full),
    ],
)
def test_stopped_in_the_middle(
    signal_and_end: tuple[signal.Signals, int, str],
    when: Callable[[int], bool],
    many: Path,
    folder: Path,
    names: Callable[[Path], list[str]],
) -> None:
    """A fit a gold item would take minutes: whatever it does when it is stopped, it stops clean."""
    number, code, last = signal_and_end
    for name in ("j.csv", "t.csv"):
        (folder / name).symlink_to(many / name)
    process = start("evaluate", "j.csv", "--gold", "t.csv", "--folds", "4000", "-o", "scores.csv")
    wait_until(lambda: when(process.pid), LIMIT, "it is as far as it is to be stopped")
    assert process.poll() is None, "it was over before it could be stopped"
    process.send_signal(number)
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out) == (code, "")
    assert err.endswith(last)
    assert "Traceback" not in err
    assert names(folder) == ["j.csv", "t.csv"]


def seconds_of(pid: int) -> float:
    """What a process has had of processors."""
    cells = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(0.5, id="early"),
        pytest.param(2.0, id="later", marks=pytest.mark.full),
    ],
)
def test_stopped_while_kernels_compile(
    more: float, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The compiler hears nothing for seconds: the process ends in less of a processor than one."""
    cold = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cold"))}
    rows = "".join(f"{n},{j},{n % 2}\n" for n in range(20) for j in "xyz")
    (folder / "j.csv").write_text("item,judge,label\n" + rows)
    process = start("consensus", "j.csv", "-o", "labels.csv", env=cold)
    assert process.stderr is not None
    while "compiling" not in process.stderr.readline():
        assert process.poll() is None
    begun = seconds_of(process.pid)
    wait_until(lambda: seconds_of(process.pid) > begun + more, LIMIT, "it compiles")
    before = seconds_of(process.pid)
    process.send_signal(signal.SIGINT)
    last = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.communicate()
    assert process.returncode == 130
    assert last.endswith("stopped\n")
    assert used.ru_utime + used.ru_stime - before < 1.0
    assert not (folder / "labels.csv").exists()


def test_stopped_where_the_main_thread_hears_nothing(
    folder: Path, names: Callable[[Path], list[str]]
) -> None:
    """One step of code that takes minutes: the process ends, and what is half-written goes."""
    code = (
        "import hashlib, sys; from pathlib import Path; import adjudge.cli as cli\n"
        "from adjudge.data.formats.writing import written_whole\n"
        "def deaf(given):\n"
        "    def work(**_):\n"
        "        with written_whole(Path('out.csv')) as file:\n"
        "            file.write(b'half'); file.flush(); print('deaf', flush=True)\n"
        "            hashlib.pbkdf2_hmac('sha256', b'x', b'y', 2_000_000_000)\n"
        "    return work\n"
        "cli._choose = deaf; sys.argv = ['adjudge', 'x']; cli.main()"
    )
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "deaf\n"
    assert names(folder) != []
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (130, "stopped\n")
    assert names(folder) == []


def test_letters_that_a_terminal_does_not_know(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "j.csv").write_text("item,judge,label\ncafé,x,1\n漢,x,0\n")
    screen = io.BytesIO()
    plain = io.TextIOWrapper(screen, encoding="ascii")
    monkeypatch.setattr(plain, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", plain)
    assert call(["consensus", "j.csv", "-q", "-m", "majority-vote"]) == 0
    assert b"caf\\xe9" in screen.getvalue()


def test_stopped_again_and_again(folder: Path) -> None:
    """Signals that rain on it to its last moment: it ends by its own code."""
    (folder / "j.csv").write_text("item,judge,label\n" + "".join(f"{n},x,1\n" for n in range(99)))
    process = start("consensus", "j.csv", "-q", "-o", "labels.csv")
    wait_until(lambda: watches(process.pid), LIMIT, "it can be stopped")
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "stopped"
    assert "Traceback" not in err


def test_stopped_when_all_is_done(folder: Path) -> None:
    """A signal between the end of the work and the end of the process changes nothing."""
    code = (
        "import os, signal, sys; from adjudge.__main__ import main; real = signal.signal\n"
        "def late(number, handler):\n"
        "    if handler is signal.SIG_IGN: os.kill(os.getpid(), number)\n"
        "    return real(number, handler)\n"
        "signal.signal = late; sys.argv = ['adjudge', '--version']; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == f"adjudge {package.__version__}\n"
