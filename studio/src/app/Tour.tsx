import { useLocation, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { defineMessages } from "../i18n/messages";
import { Button } from "../ui";

const t = defineMessages("tour", {
  label: "Getting started",
  draw: "1 · Design",
  drawText:
    "Create a definition and drag activities onto the canvas, or press A and type a name. Changes are saved as a draft automatically.",
  run: "2 · Run",
  runText:
    "Publish the definition and press Run. The form is built from the inputs of the workflow and names the version that runs.",
  watch: "3 · Monitor and repair",
  watchText: "Open an instance to follow it live, see why each step ran, go back in time, and retry failed activities.",
  next: "Next",
  end: "Done",
  skip: "Skip",
});

const KEY = "holdfast.tour";
const STEPS = [
  ["draw", "drawText", "/definitions"],
  ["run", "runText", "/definitions"],
  ["watch", "watchText", "/instances"],
] as const;

/** Introduction in three cards, shown once, each only on the page it describes. */
export function Tour() {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [step, setStep] = useState(() => (localStorage.getItem(KEY) ? STEPS.length : 0));
  const now = STEPS[step];
  if (!now || pathname !== now[2]) return null;
  const end = () => {
    localStorage.setItem(KEY, "done");
    setStep(STEPS.length);
  };
  const next = () => {
    const nextStep = STEPS[step + 1];
    if (!nextStep) {
      end();
      return;
    }
    setStep(step + 1);
    void navigate({ to: nextStep[2] });
  };
  return (
    <section className="tour stack" aria-label={t("label")}>
      <h2>{t(now[0])}</h2>
      <p className="quiet">{t(now[1])}</p>
      <div className="row">
        <div className="dots grow" aria-hidden="true">
          {STEPS.map(([name], index) => (
            <i key={name} className={index === step ? "on" : ""} />
          ))}
        </div>
        {step < STEPS.length - 1 ? (
          <Button small kind="plain" onClick={end}>
            {t("skip")}
          </Button>
        ) : null}
        <Button small kind="primary" onClick={next}>
          {step < STEPS.length - 1 ? t("next") : t("end")}
        </Button>
      </div>
    </section>
  );
}
