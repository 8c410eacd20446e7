/** `/retry` and `/continue` at the terminal. */

/** As the buttons of the page: the last message once more, or the rest of its answer. */
export function saidIn(text: string): { readonly text: string; readonly follow?: "retry" | "continue" } {
  switch (text.trim().toLowerCase()) {
    case "/retry":
      return { text: "", follow: "retry" };
    case "/continue":
      return { text: "", follow: "continue" };
    default:
      return { text };
  }
}
