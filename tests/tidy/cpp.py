# SPDX-License-Identifier: MIT
"""As much of C++ as the rules need: what is code, and where functions begin and end."""

import re

_TOKEN = re.compile(
    r'//[^\n]*'
    r'|/\*.*?\*/'
    r'|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'",  # not the ' of 1'000
    re.DOTALL)
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
_CALLABLE_END = re.compile(r"\)\s*(const|noexcept|override|final|mutable|try|&&?|\s|->[^{}]*)*$")


def blanked(text):
    """The text with comments and the insides of literals turned into spaces."""
    def blank(match):
        token = match.group()
        hidden = re.sub(r"[^\n]", " ", token)
        return hidden if token[0] == "/" else token[0] + hidden[1:-1] + token[-1]
    return _TOKEN.sub(blank, text)


def includes(text):
    """(line, '<' or '"', path) of every include; those in comments are left out."""
    code = blanked(text)
    for match in _INCLUDE.finditer(text):
        position = match.start(1)
        if code[position] == match.group(1):
            yield text.count("\n", 0, position) + 1, match.group(1), match.group(2)


def functions(code):
    """(first line, last line, head) of every function of blanked code, in classes and namespaces too."""
    # Preprocessor lines are no statements; a brace in a macro would unbalance the count.
    code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), code)
    begin = 0        # where the declaration being read began
    inside = 0       # braces open within a function or an initializer
    candidate = None
    for match in re.finditer(r"[{};]", code):
        position, sign = match.start(), match.group()
        if inside:
            inside += {"{": 1, "}": -1, ";": 0}[sign]
            if inside == 0 and code[position + 1:].lstrip()[:1] not in set(",{);"):
                if candidate:
                    yield _span(code, begin, position)
                begin = position + 1
            continue
        if sign == "{":
            head = code[begin:position]
            if _is_scope(head):
                begin = position + 1
            else:
                inside, candidate = 1, "(" in head
        else:
            begin = position + 1


def _is_scope(head):
    return bool(_SCOPE.search(head)) and not _CALLABLE_END.search(head.rstrip())


def _span(code, begin, end):
    begin += len(code[begin:]) - len(code[begin:].lstrip())
    first, last = code.count("\n", 0, begin) + 1, code.count("\n", 0, end) + 1
    return first, last, " ".join(code[begin:end].split("{")[0].split())


def declarations(code):
    """(line, scope, text) of every declaration of blanked code: of a namespace, or of a class. The scope is a
    list of ("namespace" or "class", name); the text is without the bodies of functions."""
    code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), code)
    scope, text, begin = [], "", 0
    inside = 0       # braces open within a function or an initializer
    for match in re.finditer(r"[{};]", code):
        position, sign = match.start(), match.group()
        if inside:
            inside += {"{": 1, "}": -1, ";": 0}[sign]
            if inside:
                continue
            text, begin = text + "{}", position + 1
            if code[position + 1:position + 80].lstrip()[:1] in set(",{);"):
                continue
            yield code.count("\n", 0, position) + 1, list(scope), text
            text = ""
            continue
        text, begin = text + code[begin:position], position + 1
        if sign == "{":
            found = _SCOPE.search(text) if _is_scope(text) else None
            if found and found[1] != "enum":
                yield code.count("\n", 0, position) + 1, list(scope), text + "{"
                scope.append(_named(found, text))
                text = ""
            else:
                inside = 1
        elif sign == ";":
            if text.strip():
                yield code.count("\n", 0, position) + 1, list(scope), text
            text = ""
        else:
            text = ""
            if scope:
                scope.pop()


def _named(found, head):
    kind = "namespace" if found[1] in {"namespace", "extern"} else "class"
    rest = re.sub(r"\b(final|alignas\s*\([^()]*\))|\[\[.*?\]\]|<[^<>]*>", " ", head[found.end():])
    return kind, "::".join(re.findall(r"\w+", rest.split(" : ")[0].split(":\n")[0]))
