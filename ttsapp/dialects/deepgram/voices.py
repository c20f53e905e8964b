"""Deepgram's own voices, by kind: who names one is given a voice of ours of that kind."""

from __future__ import annotations

FEMALE = (
    *("agathe", "agustina", "ama", "amalthea", "andromeda", "antonia", "asteria", "athena"),
    *("aurelia", "aurora", "beatrix", "callista", "carina", "celeste", "cinzia", "cora"),
    *("cordelia", "cornelia", "daphne", "delia", "demetra", "diana", "elara", "electra"),
    *("estrella", "gloria", "harmonia", "helena", "hera", "hestia", "iris", "izanami"),
    *("janus", "juno", "kara", "lara", "leda", "livia", "luna", "maia", "melia", "minerva"),
    *("olivia", "ophelia", "pandora", "phoebe", "rhea", "selena", "selene", "silvia"),
    *("stella", "thalia", "theia", "uzume", "vesta", "viktoria"),
)
MALE = (
    *("alvaro", "angus", "apollo", "aquila", "arcas", "aries", "atlas", "cesare", "dionisio"),
    *("draco", "ebisu", "elio", "fabian", "flavio", "fujin", "hector", "helios", "hermes"),
    *("hyperion", "javier", "julius", "jupiter", "lars", "luciano", "mars", "neptune"),
    *("nestor", "odysseus", "orion", "orpheus", "perseus", "pluto", "roman", "sander"),
    *("saturn", "sirio", "valerio", "zeus"),
)
