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
    "undeclared size": "void f(double A[8]) { for (int i = 0; i < n; i++) A[i] = 0; }",
    "a range of the operator language": "double A[9]; for (i = 0..9) A[i] = 0;",
    "a loop in words": "void f(double A[9]) { for i in 0:9 { A[i] = 0; } }",
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
    "an array with a number": _body("double t[2] = 1; for (int i = 0; i < n; i++) A[i] = t[0];"),
    "a macro with too many arguments": "#define SQUARE(a) ((a) * (a))\n" + _loop("A[i] = SQUARE(x, 2);"),
    "a mistake in a macro": "#define TWICE(a) 2 * (a).real\n" + _loop("A[i] = 1 + TWICE(x);"),
    "a mistake beside a macro": "#define SQUARE(a) ((a) * (a))\n" + _loop("A[i] = SQUARE(x) + Z[i];"),
    "an error of the preprocessor": "#ifndef FAST\n#error say how fast\n#endif\n" + _loop("A[i] = 1;"),
    "a condition that does not end": "#if 1\n" + _loop("A[i] = 1;"),
    "an unfinished directive": "#ifdef\n" + _loop("A[i] = 1;") + "#endif\n",
    "macros without end": "".join(f"#define {a} {' '.join([b] * 40)}\n" for a, b in zip("PQRS", "QRST", strict=True))
    + _loop("A[i] = P;"),
    "an open comment": _loop("A[i] = 1; /* so far"),
    "a string": _loop('A[i] = "one";'),
    "a struct": _loop("A[i] = x.real;"),
    "an array of structs": "struct grain { double x; };\nvoid f(int n, struct grain A[n]) { A[0].x = 1; }",
    "a character that is none": _loop("A[i] = 'ab';"),
    "a helper that is no formula": "double g(double a) { double s = a; for (int k = 0; k < 3; k++) s += k; return s; }"
    "\n" + _loop("A[i] = g(x);"),
    "a helper that calls itself": "double g(double a) { return a > 1 ? g(a / 2) : a; }\n" + _loop("A[i] = g(x);"),
    "a helper with too few arguments": "double g(double a, double b) { return a - b; }\n" + _loop("A[i] = g(x);"),
    "a helper that takes a cell": "void g(double *a) { a[0] = 1; }\n" + _loop("g(&A[i]);"),
    "a hidden variable": "double s;\ndouble g(double a) { return a * s; }\n" + _loop("{ double s = 1; A[i] = g(s); }"),
    "a region that does not end": HEAD + "#pragma scop\n" + LOOP + "A[i] = 1;\n}\n",
    "a region that does not begin": HEAD + LOOP + "A[i] = 1;\n#pragma endscop\n}\n",
    "a table without rows": _body("int t[2][2] = {1, 2, 3, 4}; for (int i = 0; i < n; i++) A[i] = t[0][0];"),
    "a comma": _loop("A[i] = (x, 2);"),
    "nothing written": _body("double t; for (int i = 0; i < n; i++) t = A[i];"),
    "two functions": "void f(double A[4]) { A[0] = 1; }\nvoid g(double A[4]) { A[0] = 2; }",
    "two mistakes": _body("for (int i = 0; i < n; i++) { A[i] = Z[i]; B[i] = 1; }"),
}
