"""What calls of the recipe in these tests have in common: models of no size."""

TINY = ["--talker-layers", "1", "--talker-ffn", "16", "--predictor-layers", "1"]
MICRO = {
    "codec": "--rows 1 --frames 4 --log-every 1 --settle-steps 1 --device cpu",
    "encode": "--size 4",
    "talker": "--rows 1 --length 192 --predictor-frames 8 --steps 3 --report-steps 1 --no-speaker",
}
FAMILY = ("custom_voice", "base", "voice_design")
WORDED = ["--set", "instructed=0.5", "--set", "designed=0.5"]
