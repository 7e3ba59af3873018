// How honest the probability of each class is: slope and shift of its log odds.

SECTIONS.slopes = ({ classes, at_prior: elsewhere }) => {
  const words = {
    choose: t("segments.figure"), entry: t("classes.class"), dot: t("classes.dot"), rule: t("slopes.honest"),
  };
  const choices = [
    { name: t("calibration.slope"), about: t("calibration.slope_means"), rule: 1 },
    { name: t("calibration.shift"), about: t("calibration.shift_means"), rule: 0 },
  ];
  return node(
    "div", {},
    node("p", { class: "intro" }, t("slopes.intro"), elsewhere ? ` ${t("verdict.honest_of_rows")}` : ""),
    chosenList({ id: "slopes", choices, entries: classes, words }),
  );
};
