import { useServices } from "./services.ts";
import { useCell } from "./state/cell.ts";
import { Shell } from "./shell/shell.tsx";
import { SignIn } from "./views/sign-in/sign-in.tsx";

export function App() {
  const { phase } = useCell(useServices().session.state);
  switch (phase) {
    case "starting":
      return null;
    case "out":
      return <SignIn />;
    default:
      return <Shell />;
  }
}
