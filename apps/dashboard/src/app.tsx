import { useServices } from "./services.ts";
import { useCell } from "./state/cell.ts";
import { shown } from "./texts/texts.ts";
import { Shell } from "./shell/shell.tsx";
import { SignIn, Unreachable } from "./views/sign-in/sign-in.tsx";

export function App() {
  const state = useCell(useServices().session.state);
  // Everything is drawn anew in another language.
  useCell(shown);
  switch (state.phase) {
    case "starting":
      return state.problem === undefined ? null : <Unreachable />;
    case "out":
      return <SignIn />;
    default:
      return <Shell />;
  }
}
