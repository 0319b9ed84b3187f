"""What a panel builds, checks and times: beside, in processes of the tuner that may crash or be stopped."""
