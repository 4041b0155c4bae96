import js from "@eslint/js";

const browser = [
  "document", "window", "location", "history", "matchMedia", "requestAnimationFrame", "atob", "Blob", "Response",
  "DecompressionStream", "TextDecoder", "Path2D", "DOMMatrix", "ResizeObserver", "Option", "HTMLSelectElement", "Element", "navigator", "setTimeout", "clearTimeout",
  "getComputedStyle", "uPlot", "OffscreenCanvas", "EventSource",
];

export default [
  { ignores: ["**/node_modules/**", "**/vendor/**"] },
  js.configs.recommended,
  {
    languageOptions: {
      ecmaVersion: 2022,
      sourceType: "module",
      globals: Object.fromEntries(browser.map((name) => [name, "readonly"])),
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      curly: "error",
      "no-shadow": "error",
      complexity: ["error", 12],
      "max-lines": ["error", 500],
      "max-lines-per-function": ["error", { max: 50, skipComments: true, skipBlankLines: true }],
    },
  },
];
