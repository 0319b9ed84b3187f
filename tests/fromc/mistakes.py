"""C that from_c refuses, each with what is wrong in its name."""

HEAD = "void f(int n, int m, double x, double A[n], double B[n][n], int idx[n])\n{\n"
LOOP = "    for (int i = 0; i < n; i++)\n        "


def _loop(statement: str) -> str:
    return f"{HEAD}{LOOP}{statement}\n}}\n"


def _body(text: str) -> str:
    return f"{HEAD}    {text}\n}}\n"


MISTAKES: dict[str, str] = {
    "not C": "double A[n]; for (i = 0; i < n; i++ A[i] = 0;",
    "nothing": "",
    "ends early": "void f(int n, double A[n]) { for (int i = 0; i < n; i++) A[i] = 0;",
    "no value": _loop("A[i] = ;"),
    "undeclared type": "void f(int n, real A[n]) { A[0] = 1; }",
    "undeclared array": _loop("A[i] = Z[i];"),
    "undeclared size": "double A[8]; for (i = 0; i < n; i++) A[i] = 0;",
    "misspelt scalar": _loop("A[i] = alpha;"),
    "a while loop": _body("while (A[0] > 0) A[0] -= 1;"),
    "a break": _loop("{ if (A[i] > 0) break; A[i] = 1; }"),
    "an early return": _loop("{ if (i > 2) return; A[i] = 1; }"),
    "a call for its effects": _loop('printf("%f", A[i]);'),
    "an unknown function": _loop("A[i] = noise(i);"),
    "too many arguments": _loop("A[i] = sqrt(x, x);"),
    "a pointer that moves": _body("double *p = A; for (int i = 0; i < n; i++) *p++ = 0;"),
    "a pointer to pointers": "void f(int n, double **A) { for (int i = 0; i < n; i++) A[i][i] = 0; }",
    "an address": _loop("A[i] = *&x;"),
    "a product of loop variables": _body("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i * j] = 0;"),
    "a bound that is a product": _body("for (int i = 0; i < n; i++) for (int j = 0; j < i * i; j++) A[j] = 0;"),
    "a bound that is data": _body("for (int i = 0; i < idx[0]; i++) A[i] = 0;"),
    "a float subscript": _loop("A[x] = 1;"),
    "too few subscripts": _loop("B[i] = 1;"),
    "an array as a value": _loop("A[i] = B + 1;"),
    "no step": _body("for (int i = 0; i < n; i = 2 * i) A[i] = 0;"),
    "counting the wrong way": _body("for (int i = 0; i > n; i++) A[i] = 0;"),
    "no bound": _body("for (int i = 0; ; i++) A[i] = 0;"),
    "two loop variables": _body("for (int i = 0, j = 0; i < n; i++) A[i] = j;"),
    "down in an unsigned type": _body("for (unsigned i = n - 1; i >= 0; i--) A[i] = 0;"),
    "an unsigned bound that may wrap": "void f(unsigned n, double A[n]) { for (int i = 0; i < n - 1; i++) A[i] = 0; }",
    "a loop variable after its loop": _body("int i; for (i = 0; i < n; i++) A[i] = 0; A[0] = i;"),
    "a loop variable that is assigned": _loop("{ i = 3; A[i] = 0; }"),
    "a size that is assigned": _body("for (int i = 0; i < n; i++) { n = 3; A[i] = 0; }"),
    "a parameter that is changed": _loop("{ x = x + 1; A[i] = x; }"),
    "an assignment inside": _loop("A[i] = (A[0] = 2) + 1;"),
    "an increment inside": _loop("A[i] = m++;"),
    "a remainder of floats": _loop("A[i] = x % 2;"),
    "division by zero": _loop("A[i] = i / 0;"),
    "an array with values": _body("double t[2] = {1, 2}; for (int i = 0; i < n; i++) A[i] = t[0];"),
    "a macro with parameters": "#define SQUARE(a) ((a) * (a))\n" + _loop("A[i] = SQUARE(x);"),
    "a macro without parentheses": "#define LAST n - 1\n" + _loop("A[i] = 2 * LAST;"),
    "conditional text": "#ifdef FAST\n#endif\n" + _loop("A[i] = 1;"),
    "an open comment": _loop("A[i] = 1; /* so far"),
    "a string": _loop('A[i] = "one";'),
    "a struct": _loop("A[i] = x.real;"),
    "a comma": _loop("A[i] = (x, 2);"),
    "nothing written": _body("double t; for (int i = 0; i < n; i++) t = A[i];"),
    "two functions": "void f(double A[4]) { A[0] = 1; }\nvoid g(double A[4]) { A[0] = 2; }",
    "two mistakes": _body("for (int i = 0; i < n; i++) { A[i] = Z[i]; B[i] = 1; }"),
}
