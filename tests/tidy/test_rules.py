# SPDX-License-Identifier: MIT
"""Plants each fault in a temporary tree and sees its rule fire, there and nowhere else."""

import pathlib
import tempfile
import unittest

import classes
import documents
import layers
import lengths
import newcomer
import tidy
import unity
import words

SPDX = "// SPDX-License-Identifier: MIT\n"
tested = set()


def check(rule, files):
    """What the rule finds in a tree of these files: ["path:line", ...]."""
    tested.add(rule)
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            place = pathlib.Path(root, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        found = tidy.findings(root, [rule])
    assert all(finding.what and finding.remedy for finding in found)
    return [f"{finding.path}:{finding.line}" for finding in found]


class Lengths(unittest.TestCase):
    def test_file(self):
        self.assertEqual(check(lengths.file_length, {"src/net/a.cpp": "\n" * 501}), ["src/net/a.cpp:501"])
        self.assertEqual(check(lengths.file_length, {"src/net/a.cpp": "\n" * 500, "a.md": "\n" * 999}), [])

    def test_lonely_headers(self):
        header, code = "#pragma once\n", '#include "net/a.hpp"\n'
        files = {"src/net/a.hpp": header, "src/net/a.cpp": code, "src/net/b.cpp": code}
        self.assertEqual(check(lengths.lonely_headers, files), ["src/net/a.hpp:1"])
        self.assertEqual(check(lengths.lonely_headers, files | {"src/net/c.cpp": code}), [])
        self.assertEqual(check(lengths.lonely_headers, files | {"src/net/b.cpp": code + "\n" * 450}), [])
        alone = {path.replace("net", "base"): text.replace("net", "base") for path, text in files.items()}
        self.assertEqual(check(lengths.lonely_headers, alone), [])

    def test_function(self):
        long = "  f({1, 2});\n" * 69
        for head in ("void f() {", "template <class T>\nauto A<T>::f() const -> int {", "TEST(A, b) {",
                     "A::A(int a) : a_(a), b_{1}, c_{2} {", "int operator()(char c = '{') noexcept {",
                     'void f(std::string s = R"({{)") {', "struct A* f() {"):
            for around in ("%s", "namespace a {\nstruct B : C {\n  int x = 0;\n%s\n};\n}\n"):
                planted = around % f"{head}\n{long}}}\nint g() {{ return 1; }}\n"
                line = around.count("\n", 0, around.index("%s")) + 1
                fires = check(lengths.function_length, {"src/a.cpp": planted.replace("(", "(\n", 1)})
                self.assertEqual(fires, [f"src/a.cpp:{line}"], planted)
        short = "#define X {\nclass alignas(64) A {\n" + "  void f() {\n  }\n" * 60 + "};\n"
        self.assertEqual(check(lengths.function_length, {"src/a.cpp": short}), [])
        for body, fires in ((70, ["a.py:1"]), (69, [])):
            planted = "def f():\n" + "    pass\n" * body
            self.assertEqual(check(lengths.function_length, {"a.py": planted}), fires)
        self.assertEqual(check(lengths.function_length, {"a.py": "def f():\n" + "    pass\n" * 69}), [])

    def test_line(self):
        files = {"src/a.hpp": f"//\n{'x' * 111}\n", "b.py": f"{'#' * 110}\n", "c.md": f"{'x' * 200}\n"}
        self.assertEqual(check(lengths.line_length, files), ["src/a.hpp:2"])

    def test_trailing_blanks(self):
        files = {"src/a.hpp": "a\nb \n", "b.md": "a\t\n", "c.toml": "a\n", "d.py": "a"}
        self.assertEqual(check(lengths.trailing_blanks, files), ["b.md:1", "d.py:1", "src/a.hpp:2"])


class Classes(unittest.TestCase):
    METHODS = ("void f();", "int f() const { return 1; }", "virtual bool f(int a = 0) const = 0;",
               "static std::map<int, int> f(std::function<void(int)> g);", "[[nodiscard]] auto f() -> int;",
               "template <typename T>\n  void f(T&& t);",
               "bool f() const override {\n    return a_ == b_;\n  }",
               "enum class E { a, b };\n  void f(E e);", "private:\n  void f();")
    NO_METHODS = ("A();", "explicit A(int a) : a_(a), b_{1} {}", "~A() override = default;",
                  "A(const A&) = delete;",
                  "A& operator=(A&& other);", "using B = std::function<void()>;", "friend void g(A&);",
                  "enum class E { a, b };", "static_assert(f());")
    MEMBERS = ("int a_;", "std::function<void(int)> a_;", "Time a_{}, b_{};", "const int a_ = f(1);",
               "std::atomic<int> a_{0};", "alignas(64) char a_[64];", "A* const a_ = nullptr;",
               "unsigned a_ : 3;",
               "std::map<int, std::vector<A>> a_{{1, {}}};")
    NO_MEMBERS = ("int a;", "static int a_;", "void set_(int b);", "int a() const { return a_; }",
                  "static constexpr int kA = 1;")

    def size(self, *lines):
        """(methods, members) of a class that has these lines."""
        text = SPDX + "namespace joust {\nclass A {\n  " + "\n  ".join(lines) + "\n};\n}\n"
        with tempfile.TemporaryDirectory() as root:
            place = pathlib.Path(root, "src/net/a.hpp")
            place.parent.mkdir(parents=True)
            place.write_text(text)
            return [found[3:] for found in classes._classes(tidy.Tree(root))]

    def test_counting(self):
        for line in self.METHODS:
            self.assertEqual(self.size(line, "int b;"), [(1, 0)], line)
        for line in self.NO_METHODS:
            self.assertEqual(self.size(line, "int b;"), [(0, 0)], line)
        for line in self.MEMBERS:
            self.assertEqual(self.size(line), [(0, 2 if "b_" in line else 1)], line)
        for line in self.NO_MEMBERS:
            self.assertEqual(self.size(line)[0][1], 0, line)
        everything = self.METHODS + self.NO_METHODS + self.MEMBERS
        self.assertEqual(self.size(*everything), [(len(self.METHODS), len(self.MEMBERS) + 1)])

    def test_size(self):
        def files(methods, members):
            inside = "  void f();\n" * methods + "  int a_;\n" * members
            return {"src/net/a.hpp": f"namespace joust {{\nclass A {{\n{inside}}};\n}}\n"}
        self.assertEqual(check(classes.class_size, files(25, 15)), [])
        self.assertEqual(check(classes.class_size, files(26, 0)), ["src/net/a.hpp:3"])
        self.assertEqual(check(classes.class_size, files(0, 16)), ["src/net/a.hpp:3"])
        classes.LARGE["joust::A"] = (30, 15, "planted")
        try:
            self.assertEqual(check(classes.class_size, files(30, 15)), [])
            for size in ((31, 15), (30, 16), (29, 15), (25, 15)):
                self.assertEqual(len(check(classes.class_size, files(*size))), 1, size)
            itself = {**files(30, 15), "tests/tidy/classes.py": ""}
            others = len(classes.LARGE) - 1
            self.assertEqual(len(check(classes.class_size, itself)), others, "a class that does not exist")
        finally:
            del classes.LARGE["joust::A"]

    def test_one_file(self):
        header = {"src/net/a.hpp": "namespace joust {\nclass A {\n  void f();\n};\n}\n"}
        for head in ("void A::f() {", "A::A() : a_(1) {", "A::~A() {", "bool A::operator==(const A&) const {",
                     "std::expected<int, std::string> A::f(int a) {", "A::B A::f() {",
                     "auto A::B::f() -> int {"):
            text = f"namespace joust {{\n{head}\n}}\n}}\n"
            one = {**header, "src/net/a.cpp": text}
            self.assertEqual(check(classes.class_in_one_file, one), [], head)
            two = {**one, "src/net/b.cpp": text}
            self.assertEqual(check(classes.class_in_one_file, two), ["src/net/b.cpp:3"], head)
        for other in ("void g() {", "int b::f() {", "A f(A::B a) {"):
            two = {**header, "src/net/a.cpp": "namespace joust {\nvoid A::f() {\n}\n}\n",
                   "src/net/b.cpp": "namespace joust {\n" + other + "\n}\n}\n"}
            self.assertEqual(check(classes.class_in_one_file, two), [], other)
        unnamed = "namespace joust {\nnamespace {\nclass A {\n  void f();\n};\n" + \
            "void A::f() {\n}\n}\n}\n"
        two = {"src/net/a.cpp": unnamed, "src/net/b.cpp": unnamed}
        self.assertEqual(check(classes.class_in_one_file, two), [], "a class of its own in each file")


class Layers(unittest.TestCase):
    def fires(self, rule, path, included):
        return bool(check(rule, {path: f"{SPDX}#include {included}\n"}))

    def test_every_forbidden_edge(self):
        for room in layers.ROOMS:
            for target in set(layers.ROOMS) - {room}:
                fired = self.fires(layers.include_law, f"src/{room}/a.cpp", f'"{target}/b.hpp"')
                self.assertEqual(fired, target not in layers.allowed(room), f"{room} -> {target}")
            self.assertFalse(self.fires(layers.include_law, f"src/{room}/a.cpp", '"joust/time.hpp"'))
            self.assertFalse(self.fires(layers.include_law, f"src/{room}/a.cpp", f'"{room}/b.hpp"'))

    def test_nothing_goes_up(self):
        def reached(room, seen):
            for below in layers.allowed(room):
                if below not in seen:
                    seen.add(below)
                    reached(below, seen)
            return seen
        for room in layers.ROOMS:
            self.assertNotIn(room, reached(room, set()), "the law itself has a cycle")

    def test_every_word_of_the_law_is_a_room(self):
        for room, below in layers.ROOMS.items():
            for word in below:
                word = word.removesuffix("/.")  # the folder without its rooms
                self.assertTrue(word in layers.ROOMS or word in layers.HOUSES, f"{room} -> {word}")

    def test_unknown_rooms_and_bare_names(self):
        self.assertTrue(self.fires(layers.include_law, "src/net/a.cpp", '"address.hpp"'))
        self.assertTrue(self.fires(layers.include_law, "src/net/a.cpp", '"util/address.hpp"'))
        self.assertTrue(self.fires(layers.include_law, "src/util/a.cpp", '"base/fd.hpp"'))
        self.assertFalse(self.fires(layers.include_law, "src/net/a.cpp", "<fmt/format.h>"))
        self.assertFalse(self.fires(layers.include_law, "src/base/a.cpp", '"base/b.hpp"  // not "cli/a.hpp"'))
        self.assertEqual(check(layers.include_law, {"src/base/a.cpp": '// #include "cli/a.hpp"\n'}), [])

    def test_siblings(self):
        for folder in layers.SIBLINGS:
            self.assertTrue(self.fires(layers.siblings, f"src/{folder}/a.cpp", f'"{folder}/b.hpp"'))
            self.assertFalse(self.fires(layers.siblings, f"src/{folder}/a.cpp", f'"{folder}/a.hpp"'))
            for shared in layers.SIBLINGS[folder]:
                shared += "b.hpp" if shared.endswith("/") else ""
                self.assertFalse(self.fires(layers.siblings, f"src/{folder}/a.cpp", f'"{shared}"'))

        self.assertFalse(self.fires(layers.siblings, "src/protocols/a/b.cpp", '"protocols/a/c.hpp"'))
        self.assertFalse(self.fires(layers.siblings, "src/engines/a.cpp", '"engines/a/c.hpp"'))
        self.assertTrue(self.fires(layers.siblings, "src/engines/b.cpp", '"engines/a/c.hpp"'))
        self.assertTrue(self.fires(layers.siblings, "src/engines/a_b.cpp", '"engines/a_c.hpp"'))

    def test_no_io(self):
        for header in ("sys/socket.h", "unistd.h", "fstream", "iostream", "fcntl.h", "poll.h", "net/if.h"):
            for layer in ("session", "protocols", "stats"):
                self.assertTrue(self.fires(layers.no_io, f"src/{layer}/a.hpp", f"<{header}>"))
            self.assertFalse(self.fires(layers.no_io, "src/net/a.hpp", f"<{header}>"))
        self.assertFalse(self.fires(layers.no_io, "src/session/a.hpp", "<string>"))

    def test_public_headers(self):
        for included in ('"base/fd.hpp"', "<fmt/format.h>", "<nlohmann/json.hpp>", "<liburing.h>"):
            self.assertTrue(self.fires(layers.public_headers, "include/joust/a.hpp", included))
        for included in ('"joust/time.hpp"', "<span>", "<sys/socket.h>"):
            self.assertFalse(self.fires(layers.public_headers, "include/joust/a.hpp", included))

    def test_examples(self):
        self.assertTrue(self.fires(layers.examples, "examples/a.cpp", '"base/fd.hpp"'))
        self.assertFalse(self.fires(layers.examples, "examples/a.cpp", '"joust/time.hpp"'))

    def test_engines_of_linux(self):
        header = {"src/engines/epoll.hpp": "#include <sys/epoll.h>\n"}
        direct, through = "#include <sys/eventfd.h>\n", '#include "engines/epoll.hpp"\n'
        for included in (direct, through):
            files = {**header, "src/engines/a/b.cpp": included}
            self.assertEqual(check(layers.engines_of_linux, files), ["src/engines/a/b.cpp:1"], included)
            for said in ("// Needs Linux.\n", "// Needs Linux: a reason\n"):
                files = {**header, "src/engines/a/b.cpp": said + included}
                self.assertEqual(check(layers.engines_of_linux, files), [])
        for innocent in ("#include <poll.h>\n", "#if defined(__linux__)\n" + direct + "#endif\n"):
            self.assertEqual(check(layers.engines_of_linux, {"src/engines/a.cpp": innocent}), [])
        self.assertEqual(check(layers.engines_of_linux, {"src/net/a.cpp": direct}), [])


class Words(unittest.TestCase):
    CALLS = {
        "unbounded copy": ["strcpy(a, b);", "std::sprintf(a, b);", "gets(a);"],
        "system()": ["system(a);", "std::system(a);"],
        "FD_SET": ["FD_SET(1, &set);", "FD_ZERO(&set);"],
        "rand()": ["int x = rand();", "srand(1);"],
        "sleep": ["std::this_thread::sleep_for(1s);", "usleep(1);", "::sleep(1);", "nanosleep(&t, nullptr);"],
        "std::endl": ["out << std::endl;"],
        "signal()": ["signal(SIGINT, f);", "std::signal(SIGINT, f);"],
        "exit()": ["exit(1);", "std::exit(1);"],
        "using namespace std": ["using namespace std;"],
        "shared temporary folder": ["f(testing::TempDir());", "std::filesystem::temp_directory_path();"],
        "atoi": ["atoi(a);", "std::strtoul(a, b, 10);"],
    }
    INNOCENT = ["throw std::system_error(a);", "engine.exit();", "_exit(1);", "operand(1);", "// exit(1)",
                'f("rand()");', "sleep();",
                "using namespace std::chrono_literals;", "signals(1);", "ring->signal(1);"]

    def test_banned_calls(self):
        self.assertEqual(set(self.CALLS), {rule.name for rule in words.BANNED})
        for call in sum(self.CALLS.values(), []):
            place = "src/net/a.cpp" if "temp" not in call.lower() else "tests/net/a.cpp"
            files = {place: f"{SPDX}void f() {{\n  {call}\n}}\n", "docs/a.md": call}
            self.assertEqual(check(words.banned_calls, files), [f"{place}:3"], call)
        for call in self.INNOCENT:
            self.assertEqual(check(words.banned_calls, {"src/net/a.cpp": call + "\n"}), [], call)
        self.assertEqual(check(words.banned_calls, {"src/cli/program.cpp": "exit(1);\n"}), [])

    def test_plain_comments(self):
        for comment in ("// Of a server.", "int a;  // Those that wait.", "// What is left", "// Likewise."):
            found = check(words.plain_comments, {"src/net/a.hpp": f"{comment}\n"})
            self.assertEqual(found, ["src/net/a.hpp:1"], comment)
        for comment in ("// The bytes of a server.", "// Often", 'f("// Offer");', "// A fact. Of course"):
            self.assertEqual(check(words.plain_comments, {"src/net/a.hpp": f"{comment}\n"}), [], comment)
        self.assertEqual(check(words.plain_comments, {"tests/net/a.hpp": "// Of a\n"}), [])

    def test_one_type_one_name(self):
        enum = "namespace joust {\nenum class Heard : std::uint8_t { a };\n}\n"
        for other in ("struct Heard {", "class Heard final : public A {",
                      "template <typename T>\nclass Heard {"):
            file = f"namespace joust {{\n{other}\n}};\n}}\n"
            for place in ("src/net/b.hpp", "src/net/b.cpp"):
                unnamed = "namespace joust {\nnamespace {\n}\n}\n"
                files = {"include/joust/a.hpp": enum, place: unnamed + file}
                self.assertEqual(len(check(words.one_type_one_name, files)), 1, other)
        for other in ("namespace joust {\nstruct Heard;\n",
                      "namespace joust {\nclass A {\n  struct Heard {\n",
                      "namespace joust::file {\nstruct Heard {\n", "namespace {\nstruct Heard {\n",
                      "namespace joust {\nnamespace {\nstruct Heard {\n",
                      "namespace joust {\ntemplate <>\nstruct Heard<int> {\n"):
            files = {"include/joust/a.hpp": enum, "src/net/b.hpp": other}
            self.assertEqual(check(words.one_type_one_name, files), [], other)

    def test_setting_places(self):
        use = {f"src/load/{name}.cpp": "plan.burst;\n" for name in "abc"}
        self.assertEqual(check(layers.setting_places, use), [])
        use["src/race/d.cpp"] = "f(&LoadPlan::burst);\n"
        self.assertEqual(check(layers.setting_places, use), ["src/race/d.cpp:1"])
        use["src/race/d.cpp"] = "// one burst\n"
        self.assertEqual(check(layers.setting_places, use), [])

    def test_thread_locals(self):
        for declared in ("thread_local std::vector<std::byte> a;", "thread_local const auto b = make();",
                         "static constinit thread_local std::string c;", "thread_local Kept d;",
                         "static_assert(std::is_trivially_destructible_v<Kept>); thread_local Other e;"):
            files = {"src/net/a.cpp": f"//\n{declared}\n"}
            self.assertEqual(check(words.thread_locals, files), ["src/net/a.cpp:2"])
        for declared in ("thread_local int a = 0;", "static constinit thread_local std::string* b = nullptr;",
                         "inline thread_local std::ptrdiff_t c{};", "// thread_local std::string d;",
                         "static_assert(std::is_trivially_destructible_v<A>);\nthread_local constinit A e;"):
            self.assertEqual(check(words.thread_locals, {"src/net/a.cpp": declared + "\n"}), [], declared)

    def test_exceptions(self):
        words.EXCEPTIONS[("sleep", "src/net/a.cpp")] = "planted"
        try:
            self.assertEqual(check(words.banned_calls, {"src/net/a.cpp": "usleep(1);\n"}), [])
            self.assertEqual(check(words.banned_calls, {"src/net/b.cpp": "usleep(1);"}), ["src/net/b.cpp:1"])
            stale = check(words.banned_calls, {"src/net/a.cpp": "f();\n"})
            self.assertEqual(stale, ["src/net/a.cpp:1"], "an exception nobody needs any more is reported")
        finally:
            del words.EXCEPTIONS[("sleep", "src/net/a.cpp")]

    def test_notes_to_self(self):
        for word in ("FIX" + "ME", "TO" + "DO", "XX" + "X", "HA" + "CK"):
            self.assertEqual(check(words.notes_to_self, {"a.md": f"a\n({word}: b)\n"}), ["a.md:2"])
        self.assertEqual(check(words.notes_to_self, {"a.cpp": "mkdtemp(nameXXXXXX)\n"}), [])

    def test_machine_paths(self):
        for path in ("/" + "work/a", "/" + "root", "`/" + "home/ann/a`"):
            self.assertEqual(check(words.machine_paths, {"a.md": f"{path}\n"}), ["a.md:1"])
        innocent = {"a.md": "a/work/b ~/work docs/work.md /workers /proc/self https://a.b/c/root\n"}
        self.assertEqual(check(words.machine_paths, innocent), [])

    def test_licence_line(self):
        files = {"a.hpp": SPDX, "b.py": "#!/bin/x\n#" + SPDX[2:], "c.cpp": "\n" + SPDX,
                 "script/d": "#!/bin/sh\n", "CMakeLists.txt": "project(a)\n", "e.md": "text\n"}
        self.assertEqual(check(words.licence_line, files), ["CMakeLists.txt:1", "c.cpp:1", "script/d:1"])


class Documents(unittest.TestCase):
    TREE = dict.fromkeys(["src/net/address.hpp", "include/joust/time.hpp", "script/demo", "docs/b.md",
                          "scenarios/first.toml", "src/cli/race.cpp", "src/cli/program.cpp"], "")

    def test_dead_paths(self):
        for text in ("`src/net/gone.hpp`", "`net/gone.hpp`", "[a](docs/gone.md)", "`gone.hpp`",
                     "`script/gone`", "see `joust/gone.hpp`", "```\nscript/gone --x\n```",
                     "`joust race scenarios/gone.toml`", "[a](docs/gone.md#part)"):
            fires = check(documents.dead_paths, {**self.TREE, "a.md": "text\n" + text + "\n"})
            self.assertEqual(len(fires), 1, text)
            self.assertTrue(fires[0].startswith("a.md:"), text)
        alive = ("`src/net/address.hpp` `net/address.hpp` `address.hpp` `joust/time.hpp` [a](docs/b.md#c)\n"
                 "`build/release/joust` `first.json` `read/write` `src/engines/my-engine.cpp` `script/`\n"
                 "[b](https://a.b/c.md) `docs/NAME.md` `unix:PATH` gone.hpp `127.0.0.1:9000`\n"
                 "```\nscript/demo a/b gone.cpp\n```\n")
        self.assertEqual(check(documents.dead_paths, {**self.TREE, "a.md": alive}), [])
        relative = check(documents.dead_paths, {**self.TREE, "docs/a.md": "[b](b.md) [c](../a)\n"})
        self.assertEqual(relative, ["docs/a.md:1"])

    def test_dead_paths_in_comments(self):
        source = "class A;  // net/gone.hpp\n// see net/address.hpp, tests/gone.cpp, a/b.cpp\n"
        fires = check(documents.dead_paths_in_comments, {**self.TREE, "src/net/a.hpp": source})
        self.assertEqual(fires, ["src/net/a.hpp:1", "src/net/a.hpp:2"])

    def test_sub_commands(self):
        text = "    joust race a.toml\n$ joust gone --x\nbuild/release/joust gone\njoust --version\n"
        self.assertEqual(check(documents.sub_commands, {**self.TREE, "a.md": text}), ["a.md:2", "a.md:3"])


class Newcomer(unittest.TestCase):
    SETUP = "core | g++ | the compiler\nring | liburing-dev | the engine io-uring\n" \
            "work | libprotobuf-dev | Protocol Buffers: the protocol work\nsite | mkdocs | a site\n"
    SCENARIO = 'protocol = "work"\n[matrix]\nservers = ["epoll", "io-uring:a=b"]\n'

    def demo(self, groups, scenario=SCENARIO):
        files = {"script/setup": self.SETUP, "scenarios/a.toml": scenario,
                 "script/demo": f'"$root/script/setup" {groups}\nexec joust race scenarios/a.toml\n'}
        return check(newcomer.demo_installs_what_it_races, files)

    def test_the_demo(self):
        self.assertEqual(self.demo("core"), ["script/setup:2", "script/setup:3"])
        self.assertEqual(self.demo("core ring"), ["script/setup:3"])
        self.assertEqual(self.demo("core ring work"), [])
        other = self.SCENARIO.replace("work", "echo").replace("io-uring:", "io:")
        self.assertEqual(self.demo("core", other), [])

    def test_the_container(self):
        run = "RUN apt-get update \\\n  && apt-get install -y /packages/*.deb {}\\\n  && rm -rf /packages\n"
        rule = newcomer.container_installs_packages_only
        self.assertEqual(check(rule, {"Containerfile": run.format("")}), [])
        self.assertEqual(check(rule, {"Containerfile": run.format("libfmt9 ")}), ["Containerfile:1"])

    def test_ubuntu(self):
        listed = "# a list\ng++ 4:13\nliburing-dev 2.5\n"
        files = {"script/setup": self.SETUP, "tests/tidy/ubuntu-24.04.txt": listed}
        self.assertEqual(check(newcomer.ubuntu_has_them, files), ["script/setup:3"])


class Unity(unittest.TestCase):
    def meet(self, one, other, paths=("src/net/a.cpp", "src/base/b.cpp")):
        around = "namespace joust {\nnamespace {\n%s\n}\n}\n"
        return check(unity.names_of_a_library, dict(zip(paths, (around % one, around % other))))

    def test_names_of_a_library(self):
        for one, other in (("constexpr int kA = 1;", "const long kA{2};"),
                           ("struct A {};", "class A final {};"),
                           ("int f(int a) { return a; }", "long f(int b) {\n  return b;\n}")):
            self.assertEqual(len(self.meet(one, other)), 1, one)
        for one, other in (("constexpr int kA = 1;", "constexpr int kB = 1;"),
                           ("using A = int;", "using A = int;"),
                           ("int f(int a) { return a; }", "int f(long a) { return a; }"),
                           ("int A::f() { return 1; }", "int B::f() { return 1; }")):
            self.assertEqual(self.meet(one, other), [], one)
        same = "constexpr int kA = 1;"
        for apart in (("src/net/a.cpp", "src/cli/b.cpp"), ("src/engines/a.cpp", "src/net/b.cpp"),
                      ("src/net/a.cpp", "src/net/a.hpp")):
            self.assertEqual(self.meet(same, same, apart), [], apart)


    def test_json_overloads(self):
        one = {"src/cli/a.cpp": "namespace joust {\nnamespace {\nint f(const Json& a) { return 1; }\n}\n}\n"}
        other = "namespace joust {\nint f(std::string_view text);\n}\n"
        self.assertEqual(check(unity.json_overloads, one | {"src/net/b.hpp": other}), ["src/cli/a.cpp:3"])
        self.assertEqual(check(unity.json_overloads, one | {"src/net/b.hpp": other.replace("f(", "g(")}), [])
        self.assertEqual(check(unity.json_overloads, one | {"src/cli/a.hpp": other}), [])


class Everything(unittest.TestCase):
    def test_every_rule_was_seen_to_fire(self):
        self.assertEqual({rule.__name__ for rule in tidy.RULES}, {rule.__name__ for rule in tested})

    def test_a_tree_under_git(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        self.assertIn("tests/tidy/test_rules.py", tidy.Tree(root).names)


if __name__ == "__main__":
    # "Everything" looks back at what the others did.
    order = [Lengths, Classes, Layers, Words, Documents, Newcomer, Unity, Everything]
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in order)
    raise SystemExit(not unittest.TextTestRunner().run(suite).wasSuccessful())
